// Shared memory between processes: a sealed memfd, known by its descriptor only. Nothing appears in /dev/shm, and the
// kernel frees the memory when the last descriptor and mapping are gone.
//
// A segment can neither shrink nor grow once it is made, so access to a mapping never faults, whatever other processes
// do. forbid_new_writers() closes a segment with one writer: from then on no process, including its creator, can map or
// write it any more, except through the mapping that the writer already has.
//
// Descriptors reach other processes by inheritance (set_inherited) or over a Unix socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/host/descriptor.h"

namespace ingot::inline transport_host {

// Makes a segment of `bytes` zero-filled bytes, rounded up to whole pages; only touched pages use memory. `name` (at
// most 249 bytes) appears in /proc/PID/maps. The descriptor is closed on exec. Errors: INVALID_ARGUMENT (size 0 or more
// than kSegmentBytesMax, name too long), RESOURCE_EXHAUSTED (no memory, no descriptors), INTERNAL (the kernel refused).
absl::StatusOr<Descriptor> create_segment(const std::string& name, std::size_t bytes);

// Seals the segment against new writable mappings and writes. Idempotent. A process that maps it writable between the
// writer's mapping and this call keeps its mapping, so the writer calls this first of all.
// REQUIRES: the one writer has mapped it.
absl::Status forbid_new_writers(int fd);

// True if the descriptor is a segment that forbid_new_writers has closed.
bool new_writers_forbidden(int fd);

// A mapping of a whole segment; unmapped on destruction. It does not own the descriptor and outlives it. The object
// moves, never copies, and is not thread-safe; the mapped memory obeys the memory model.
class Segment {
 public:
  enum class Access : std::uint8_t { kReadOnly, kReadWrite };

  // Errors: INVALID_ARGUMENT (not a segment: not sealed against resizing, or empty), PERMISSION_DENIED (kReadWrite
  // after forbid_new_writers), RESOURCE_EXHAUSTED (address space), INTERNAL.
  static absl::StatusOr<Segment> map(int fd, Access access);

  Segment() = default;
  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&& other) noexcept;
  ~Segment();

  // Page-aligned. Writing through a read-only mapping is a fault.
  std::span<std::byte> bytes() const { return bytes_; }
  std::byte* data() const { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }

  // The segment as one object. T must be valid when zero-filled.
  template <typename T>
  T* as() const {
    return sizeof(T) <= bytes_.size() ? reinterpret_cast<T*>(bytes_.data()) : nullptr;
  }

 private:
  explicit Segment(std::span<std::byte> bytes) : bytes_(bytes) {}

  std::span<std::byte> bytes_;
};

// Size of a memory page.
std::size_t page_bytes();

// `bytes` rounded up to whole pages.
std::size_t round_up_to_pages(std::size_t bytes);

}  // namespace ingot::transport_host
