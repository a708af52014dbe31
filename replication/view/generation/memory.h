// The memory of a generation: a segment whose pages are taken as they are written, and given back once readers are told
// that it is gone.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/host/descriptor.h"

namespace ingot::inline replication_view_generation {

// Zeros, rounded up to whole pages, for one writer to map. Errors: INVALID_ARGUMENT (fewer bytes than
// kGenerationBytesMin, more than kGenerationBytesMax), and as create_segment.
absl::StatusOr<Descriptor> create_generation_memory(std::uint64_t bytes);

// Another descriptor of it, for readers: no writable mapping is made by it. Errors: RESOURCE_EXHAUSTED, INTERNAL.
absl::StatusOr<Descriptor> read_only_generation(int fd);

// Gives back kPunchBytes from `offset` on, never the first page, and moves the offset on; true: that was the last part.
// REQUIRES: `fd` may be written, GenerationWriter::mark_gone was called; the first offset is 0. Errors: INTERNAL.
absl::StatusOr<bool> punch_some(int fd, std::uint64_t& offset);

}  // namespace ingot::replication_view_generation
