// A file that appears under its name only when it is whole.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_ingotctl_verbs {

// Written beside its place, under a name of its own, which is removed unless keep() succeeds. Not thread-safe.
class SnapshotFile {
 public:
  // `overwrite`: whether a file of that name may be replaced. Errors, one sentence each, of all functions:
  // INVALID_ARGUMENT (there is one, or the folder cannot be written to), RESOURCE_EXHAUSTED (no room).
  static absl::StatusOr<SnapshotFile> create(const std::string& path, bool overwrite);
  SnapshotFile(SnapshotFile&& other) noexcept;
  ~SnapshotFile();

  absl::Status write(std::string_view part);
  // Written to the disk, with all that write() was given.
  absl::Status sync();
  // From now on it has its name, on the disk, too. REQUIRES: sync() has succeeded.
  absl::Status keep();

  const std::string& written_path() const { return written_path_; }

 private:
  SnapshotFile(std::string path, bool overwrite) : path_(std::move(path)), overwrite_(overwrite) {}
  absl::Status sync_folder() const;

  std::string path_;
  bool overwrite_;
  std::string written_path_;  // empty: it has its name, or was never made
  Descriptor fd_;
};

}  // namespace ingot::services_ingotctl_verbs
