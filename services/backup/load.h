// A backup as a store: all that a restore checks.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "replication/store/kv_store.h"
#include "services/backup/format.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_backup {

// A file of the disk, mapped. Movable.
class MappedFile {
 public:
  // Errors: INVALID_ARGUMENT with one sentence (it is missing, not to be read, or no regular file).
  static absl::StatusOr<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::string_view bytes) : bytes_(bytes) {}
  std::string_view bytes_;
};

// Reads a file's bytes, which are not trusted, into an empty store. Errors: INVALID_ARGUMENT with a sentence that says
// what is wrong with the file.
absl::StatusOr<BackupFile> load_backup(std::string_view file, kv::KvStore& store);

}  // namespace ingot::services_backup
