#include "services/ingotctl/verbs/snapshot_file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/host/write_all.h"

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

// Whether a file may get that name. A device, a pipe or a link is never replaced, by root neither.
absl::Status check_place(const std::string& path, bool overwrite) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return absl::OkStatus();  // if it cannot be made, that fails
  if (!overwrite) return exists(path);
  if (S_ISREG(info.st_mode)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(path, " is not a regular file, so --overwrite does not replace it; choose another name"));
}

std::string path_of(const Descriptor& fd) { return absl::StrCat("/proc/self/fd/", fd.get()); }

// ---- A name that a signal removes ----------------------------------------------------------------------------------

constexpr int kEndingSignals[] = {SIGHUP, SIGINT, SIGTERM};

// The handler's copy, since a string may be changing while it runs. SYNC POINT: the handler runs in this process, and
// sees the name whole once the flag is set.
char name_to_remove[4096];
std::atomic<bool> removes{false};

void remove_and_end(int signal) {
  if (removes.load(std::memory_order_acquire)) ::unlink(name_to_remove);
  ::raise(signal);  // SA_RESETHAND: the default, once this handler returns
}

void remove_on_signals(const std::string& name) {
  if (name.size() >= sizeof name_to_remove) return;
  std::memcpy(name_to_remove, name.c_str(), name.size() + 1);
  removes.store(true, std::memory_order_release);
  for (const int signal : kEndingSignals) {
    struct sigaction former{}, action{};
    if (::sigaction(signal, nullptr, &former) != 0 || former.sa_handler == SIG_IGN) continue;
    action.sa_handler = remove_and_end;
    action.sa_flags = SA_RESETHAND;
    ::sigaction(signal, &action, nullptr);
  }
}

void forget_name() { removes.store(false, std::memory_order_release); }

}  // namespace

// ---- Beginning -----------------------------------------------------------------------------------------------------

absl::StatusOr<SnapshotFile> SnapshotFile::create(const std::string& path, bool overwrite) {
  if (auto status = check_place(path, overwrite); !status.ok()) return status;
  SnapshotFile file(path, overwrite);
  // For its owner alone, as what it holds is. Such a file gets its name through /proc.
  file.fd_ = Descriptor(::open(file.folder().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.fd_.valid() && ::access(file.written_path().c_str(), F_OK) == 0) return file;
  return create_named(path, overwrite);
}

absl::StatusOr<SnapshotFile> SnapshotFile::create_named(const std::string& path, bool overwrite) {
  if (auto status = check_place(path, overwrite); !status.ok()) return status;
  SnapshotFile file(path, overwrite);
  std::string name = path + ".part-XXXXXX";
  file.fd_ = Descriptor(::mkostemp(name.data(), O_CLOEXEC));
  if (!file.fd_.valid()) return failed(path, "written");
  remove_on_signals(name);
  file.name_ = std::move(name);
  return file;
}

SnapshotFile::SnapshotFile(SnapshotFile&& other) noexcept
    : path_(std::move(other.path_)),
      overwrite_(other.overwrite_),
      name_(std::exchange(other.name_, {})),
      fd_(std::move(other.fd_)) {}

SnapshotFile::~SnapshotFile() { drop_name(); }

void SnapshotFile::drop_name() {
  if (name_.empty()) return;
  ::unlink(name_.c_str());
  name_.clear();
  forget_name();
}

std::string SnapshotFile::written_path() const { return name_.empty() ? path_of(fd_) : name_; }

std::string SnapshotFile::folder() const {
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  return folder.empty() ? "." : folder;
}

absl::Status SnapshotFile::write(std::string_view part) {
  return write_all(fd_.get(), part) ? absl::OkStatus() : failed(path_, "written");
}

absl::Status SnapshotFile::sync() { return ::fsync(fd_.get()) == 0 ? absl::OkStatus() : failed(path_, "written"); }

// ---- The name ------------------------------------------------------------------------------------------------------

absl::Status SnapshotFile::keep() {
  if (auto status = check_place(path_, overwrite_); !status.ok()) return status;
  if (auto status = overwrite_ ? replace() : name_new(); !status.ok()) return status;
  return sync_folder();
}

// link() fails if there is a file of that name, and so does RENAME_NOREPLACE. Each of both is missing in some file
// systems.
absl::Status SnapshotFile::name_new() {
  const int flags = name_.empty() ? AT_SYMLINK_FOLLOW : 0;
  bool named = ::linkat(AT_FDCWD, written_path().c_str(), AT_FDCWD, path_.c_str(), flags) == 0;
  if (!named && errno != EEXIST && !name_.empty()) {
    named = ::renameat2(AT_FDCWD, name_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0;
  }
  if (!named) return errno == EEXIST ? exists(path_) : failed(path_, "named");
  drop_name();
  return absl::OkStatus();
}

// A file without a name gets one beside its place first, since a link replaces nothing.
absl::Status SnapshotFile::replace() {
  constexpr int kTriesMax = 100;
  for (int i = 0; name_.empty() && i < kTriesMax; ++i) {
    const std::string name = absl::StrCat(path_, ".part-", ::getpid(), "-", i);
    if (::linkat(AT_FDCWD, written_path().c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      name_ = name;
      remove_on_signals(name_);
    } else if (errno != EEXIST) {
      return failed(path_, "named");
    }
  }
  if (name_.empty() || ::rename(name_.c_str(), path_.c_str()) != 0) return failed(path_, "named");
  name_.clear();
  forget_name();
  return absl::OkStatus();
}

absl::Status SnapshotFile::sync_folder() const {
  const Descriptor fd(::open(folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return fd.valid() && ::fsync(fd.get()) == 0 ? absl::OkStatus() : failed(path_, "named for good");
}

}  // namespace ingot::services_ingotctl_verbs
