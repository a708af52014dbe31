// A backup as a store: all that a restore checks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "replication/store/kv_store.h"
#include "services/backup/format.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_backup {

// A file of the disk, read. It is not mapped, since then a file that is cut short meanwhile would end the reader by
// SIGBUS. Movable.
class WholeFile {
 public:
  // Errors, one sentence each: INVALID_ARGUMENT (it is missing, not to be read, or no regular file), RESOURCE_EXHAUSTED
  // (there is no memory for its bytes).
  static absl::StatusOr<WholeFile> read(const std::string& path);
  WholeFile(WholeFile&& other) noexcept;
  WholeFile& operator=(WholeFile&&) = delete;
  ~WholeFile();

  std::string_view bytes() const { return {memory_, bytes_}; }

 private:
  WholeFile() = default;
  absl::Status fill(int fd, const std::string& path);

  char* memory_ = nullptr;     // pages of its own
  std::size_t mapped_ = 0;     // bytes of them
  std::size_t bytes_ = 0;      // of the file, in them
};

// Reads a file's bytes, which are not trusted, into an empty store. Errors: INVALID_ARGUMENT with a sentence that says
// what is wrong with the file.
absl::StatusOr<BackupFile> load_backup(std::string_view file, kv::KvStore& store);

}  // namespace ingot::services_backup
