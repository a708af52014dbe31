// Where a chain lies: memory that is zero at first, takes pages as it is touched, and gives them back on request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "transport/host/segment.h"

namespace ingot::inline replication_view_heap {

// Not thread-safe but for populate() and punch(), which any thread calls. Ranges are of whole extents.
class HeapMemory {
 public:
  virtual ~HeapMemory() = default;

  virtual std::span<std::byte> bytes() const = 0;

  // Takes the pages of a range now, so that the first store there takes no fault. False: there is no memory.
  virtual bool populate(std::uint64_t offset, std::uint64_t bytes) = 0;

  // Gives the pages of a range back; it reads as zeros then. False: the kernel refused.
  virtual bool punch(std::uint64_t offset, std::uint64_t bytes) = 0;
};

// Private memory of this process: on the chip, in thread isolation, in the simulator and in tests. It ends with the
// object. Errors: RESOURCE_EXHAUSTED.
absl::StatusOr<std::unique_ptr<HeapMemory>> private_heap_memory(std::size_t bytes);

// A mapping of a segment (transport/host/segment.h), whose descriptor outlives the process. Errors: as Segment::map.
absl::StatusOr<std::unique_ptr<HeapMemory>> shared_heap_memory(int fd);

}  // namespace ingot::replication_view_heap
