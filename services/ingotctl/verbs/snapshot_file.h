// A file that appears under its name only when it is whole.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_ingotctl_verbs {

// Written in the folder of its place, without a name, so that nothing is left of it if this process is ended. Where a
// file system makes no such files, it has a name of its own beside its place, which is removed unless keep() succeeds,
// and when SIGHUP, SIGINT or SIGTERM ends the process. Not thread-safe.
class SnapshotFile {
 public:
  // `overwrite`: whether a regular file of that name may be replaced. Errors, one sentence each, of all functions:
  // INVALID_ARGUMENT (there is one, or something else of that name, or the folder cannot be written to),
  // RESOURCE_EXHAUSTED (no room).
  static absl::StatusOr<SnapshotFile> create(const std::string& path, bool overwrite);
  // As create() where files have names. REQUIRES: no other file that is made so is being written.
  static absl::StatusOr<SnapshotFile> create_named(const std::string& path, bool overwrite);
  SnapshotFile(SnapshotFile&& other) noexcept;
  SnapshotFile& operator=(SnapshotFile&&) = delete;
  ~SnapshotFile();

  absl::Status write(std::string_view part);
  // Written to the disk, with all that write() was given.
  absl::Status sync();
  // From now on it has its name, on the disk, too. REQUIRES: sync() has succeeded.
  absl::Status keep();

  // Where what was written can be read until keep().
  std::string written_path() const;

 private:
  SnapshotFile(std::string path, bool overwrite) : path_(std::move(path)), overwrite_(overwrite) {}
  std::string folder() const;
  absl::Status name_new();
  absl::Status replace();
  void drop_name();
  absl::Status sync_folder() const;

  std::string path_;
  bool overwrite_;
  std::string name_;  // its own, beside its place; empty: it has none, or has it no longer
  Descriptor fd_;
};

}  // namespace ingot::services_ingotctl_verbs
