#include "services/ingotctl/verbs/snapshot_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ingot::inline services_ingotctl_verbs {
namespace {

absl::Status exists(const std::string& path) {
  return absl::InvalidArgumentError(absl::StrCat(path, " exists; choose another name, or give --overwrite"));
}

absl::Status failed(const std::string& path, const char* what) {
  const std::string text = absl::StrCat(path, " cannot be ", what, ": ", std::strerror(errno));
  const bool room = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
  return room ? absl::ResourceExhaustedError(text) : absl::InvalidArgumentError(text);
}

}  // namespace

absl::StatusOr<SnapshotFile> SnapshotFile::create(const std::string& path, bool overwrite) {
  if (!overwrite && ::access(path.c_str(), F_OK) == 0) return exists(path);
  SnapshotFile file(path, overwrite);
  std::string name = path + ".part-XXXXXX";
  file.fd_ = Descriptor(::mkostemp(name.data(), O_CLOEXEC));  // for its owner alone, as what it holds is
  if (!file.fd_.valid()) return failed(path, "written");
  file.written_path_ = std::move(name);
  return file;
}

SnapshotFile::SnapshotFile(SnapshotFile&& other) noexcept
    : path_(std::move(other.path_)),
      overwrite_(other.overwrite_),
      written_path_(std::exchange(other.written_path_, {})),
      fd_(std::move(other.fd_)) {}

SnapshotFile::~SnapshotFile() {
  if (!written_path_.empty()) ::unlink(written_path_.c_str());
}

absl::Status SnapshotFile::write(std::string_view part) {
  while (!part.empty()) {
    const ssize_t n = ::write(fd_.get(), part.data(), part.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return failed(path_, "written");
    part.remove_prefix(static_cast<std::size_t>(n));
  }
  return absl::OkStatus();
}

absl::Status SnapshotFile::sync() { return ::fsync(fd_.get()) == 0 ? absl::OkStatus() : failed(path_, "written"); }

absl::Status SnapshotFile::keep() {
  const unsigned flags = overwrite_ ? 0 : RENAME_NOREPLACE;
  if (::renameat2(AT_FDCWD, written_path_.c_str(), AT_FDCWD, path_.c_str(), flags) != 0) {
    return errno == EEXIST ? exists(path_) : failed(path_, "named");
  }
  written_path_.clear();
  return sync_folder();
}

absl::Status SnapshotFile::sync_folder() const {
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  const Descriptor fd(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return fd.valid() && ::fsync(fd.get()) == 0 ? absl::OkStatus() : failed(path_, "named for good");
}

}  // namespace ingot::services_ingotctl_verbs
