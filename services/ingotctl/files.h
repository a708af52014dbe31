// Reads files named on the command line.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace ingot::inline services_ingotctl {

// Reads the whole file; "-" is standard input. Errors: INVALID_ARGUMENT with one sentence, also for more than
// kMachineFileBytesMax.
absl::StatusOr<std::string> read_whole_file(const std::string& path);

// Reads and parses a file; errors of `parse` are prefixed with the file's name.
template <typename T>
absl::StatusOr<T> read_file_as(const std::string& path, absl::StatusOr<T> (*parse)(std::string_view)) {
  const absl::StatusOr<std::string> text = read_whole_file(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<T> value = parse(*text);
  if (value.ok()) return value;
  return absl::Status(value.status().code(), absl::StrCat(path, ": ", value.status().message()));
}

}  // namespace ingot::services_ingotctl
