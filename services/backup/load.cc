#include "services/backup/load.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ingot::inline services_backup {

absl::StatusOr<MappedFile> MappedFile::open(const std::string& path) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info{};
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(path, " cannot be read: ", std::strerror(errno)));
  }
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, " is not a regular file"));
  if (info.st_size == 0) return MappedFile(std::string_view());
  const auto bytes = static_cast<std::size_t>(info.st_size);
  void* const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (memory == MAP_FAILED) {
    return absl::InvalidArgumentError(absl::StrCat(path, " cannot be read: ", std::strerror(errno)));
  }
  ::madvise(memory, bytes, MADV_SEQUENTIAL);
  return MappedFile(std::string_view(static_cast<const char*>(memory), bytes));
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

absl::StatusOr<BackupFile> load_backup(std::string_view file, kv::KvStore& store) {
  auto read = read_backup(file);
  if (!read.ok()) return read.status();
  if (const absl::Status loaded = store.load(read->content); !loaded.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("is not a whole snapshot of Ingot: ", loaded.message()));
  }
  const bool agrees = store.revision() == read->header.revision && store.compact_revision() == read->header.compacted;
  if (!agrees) return absl::InvalidArgumentError("is not a whole snapshot of Ingot: its header names other revisions");
  return read;
}

}  // namespace ingot::services_backup
