#include "services/backup/load.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ingot::inline services_backup {

absl::StatusOr<WholeFile> WholeFile::read(const std::string& path) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info{};
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(path, " cannot be read: ", std::strerror(errno)));
  }
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, " is not a regular file"));
  WholeFile file;
  if (info.st_size == 0) return file;
  const auto bytes = static_cast<std::size_t>(info.st_size);
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return absl::ResourceExhaustedError(absl::StrCat("there is no memory for the ", bytes, " bytes of ", path));
  }
  file.memory_ = static_cast<char*>(memory);
  file.mapped_ = bytes;
  if (auto status = file.fill(fd.get(), path); !status.ok()) return status;
  return file;
}

// A file that is cut short meanwhile has fewer bytes, which read_backup finds.
absl::Status WholeFile::fill(int fd, const std::string& path) {
  while (bytes_ < mapped_) {
    const ssize_t n = ::read(fd, memory_ + bytes_, mapped_ - bytes_);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return absl::InvalidArgumentError(absl::StrCat(path, " cannot be read: ", std::strerror(errno)));
    if (n == 0) break;
    bytes_ += static_cast<std::size_t>(n);
  }
  return absl::OkStatus();
}

WholeFile::WholeFile(WholeFile&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      mapped_(std::exchange(other.mapped_, 0)),
      bytes_(std::exchange(other.bytes_, 0)) {}

WholeFile::~WholeFile() {
  if (memory_ != nullptr) ::munmap(memory_, mapped_);
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
