// Files that a command line names. Thread-safe.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ingot::inline services_cli {

// Whether `path` is a regular file, possibly through links. A device or a pipe may have no end, and opening a pipe may
// wait for ever. Errors: INVALID_ARGUMENT: a clause without the path, for example "is not a regular file".
absl::Status check_regular_file(const std::string& path);

// The whole file. Never waits. Errors: those of check_regular_file; INVALID_ARGUMENT, likewise a clause, if the file
// cannot be read or has more than `bytes_max` bytes.
absl::StatusOr<std::string> read_regular_file(const std::string& path, std::size_t bytes_max);

}  // namespace ingot::services_cli
