#include "services/sockets/unix_listener.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "services/config/limits.h"
#include "services/sockets/limits.h"
#include "services/sockets/passed_descriptors.h"
#include "services/sockets/socket_lock.h"

namespace ingot::inline services_sockets {

namespace {

constexpr const char* kChoose = "name another path with --socket=PATH";

static_assert(kSocketPathBytesMax + 1 == sizeof sockaddr_un::sun_path, "and a zero byte");

sockaddr_un address_of(const std::string& path) {
  INGOT_CHECK(path.size() <= kSocketPathBytesMax && path.starts_with('/'), "the path was checked before");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

const sockaddr* generic(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

Descriptor make_socket() {
  Descriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  refuse_passed_descriptors(fd.get());  // it listens, or looks who listens
  return fd;
}

absl::Status failure(const std::string& what, int error) {
  return absl::FailedPreconditionError(absl::StrCat("cannot ", what, ": ", std::strerror(error), "; ", kChoose));
}

std::optional<SocketFile> socket_file_at(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode)) return std::nullopt;
  return SocketFile{info.st_dev, info.st_ino};
}

absl::Status make_folder_of(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/'));
  constexpr mode_t kMode = S_IRWXU | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH;
  if (folder.empty()) return absl::OkStatus();
  if (::mkdir(folder.c_str(), kMode) == 0) {
    ::chmod(folder.c_str(), kMode);  // whatever the process's mask is
  } else if (errno != EEXIST) {
    return failure(absl::StrCat("make the folder ", folder), errno);
  }
  return absl::OkStatus();
}

// "process 4711 (ingotd, user 997)".
std::string describe(const ucred& process) {
  std::string name;
  std::getline(std::ifstream(absl::StrCat("/proc/", process.pid, "/comm")), name);
  return name.empty() ? absl::StrCat("an instance whose supervisor (process ", process.pid, ", user ", process.uid,
                                     ") has ended")
                      : absl::StrCat("process ", process.pid, " (", name, ", user ", process.uid, ")");
}

absl::Status in_use(const std::string& path, int connection) {
  ucred process{};
  socklen_t length = sizeof process;
  const bool known = ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &process, &length) == 0 && process.pid > 0;
  return absl::AlreadyExistsError(absl::StrCat(path, " is in use by ", known ? describe(process) : "another process",
                                               "; ", kChoose, ", or stop that one"));
}

// Removes what an instance has left behind that is dead. REQUIRES: the path's lock is held.
absl::Status clear(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    return errno == ENOENT ? absl::OkStatus() : failure(absl::StrCat("look at ", path), errno);
  }
  if (!S_ISSOCK(info.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat(path, " is there and is no socket; remove it, or ", kChoose));
  }
  const Descriptor probe = make_socket();
  const sockaddr_un address = address_of(path);
  if (::connect(probe.get(), generic(address), sizeof address) == 0) return in_use(path, probe.get());
  if (errno == EAGAIN) return in_use(path, -1);  // so many connections wait there that it takes no more
  if (errno != ECONNREFUSED) return failure(absl::StrCat("tell whether a process listens on ", path), errno);
  if (::unlink(path.c_str()) != 0)
    return failure(absl::StrCat("remove ", path, ", which no process listens on"), errno);
  return absl::OkStatus();
}

// The file's rights are given last, so other users cannot connect before.
absl::Status open_to(const std::string& path, int fd, const SocketRights& rights) {
  if (::listen(fd, kListenBacklog) != 0) return failure(absl::StrCat("listen on ", path), errno);
  if (rights.group && ::lchown(path.c_str(), static_cast<uid_t>(-1), *rights.group) != 0) {
    return failure(absl::StrCat("give ", path, " to group ", *rights.group, " (--socket-group)"), errno);
  }
  if (::fchmodat(AT_FDCWD, path.c_str(), rights.mode, AT_SYMLINK_NOFOLLOW) != 0) {
    return failure(absl::StrCat("give ", path, " its rights (--socket-mode)"), errno);
  }
  return absl::OkStatus();
}

// A socket's own mode, less the process's mask, becomes that of the file. REQUIRES: the path's lock is held.
absl::StatusOr<UnixListener> listen_at(const std::string& path, const SocketRights& rights) {
  Descriptor fd = make_socket();
  const sockaddr_un address = address_of(path);
  if (!fd.valid() || ::fchmod(fd.get(), S_IRUSR | S_IWUSR) != 0) return failure("make a Unix socket", errno);
  if (::bind(fd.get(), generic(address), sizeof address) != 0) return failure(absl::StrCat("bind ", path), errno);
  const auto file = socket_file_at(path);
  absl::Status opened = file ? open_to(path, fd.get(), rights) : failure(absl::StrCat("look at ", path), ENOENT);
  if (opened.ok()) return UnixListener(std::move(fd), path, *file);
  ::unlink(path.c_str());
  return opened;
}

}  // namespace

absl::StatusOr<SocketRights> socket_rights(const std::string& mode, const std::string& group) {
  SocketRights rights;
  rights.mode = static_cast<mode_t>(std::stoul(mode, nullptr, 8));
  if (group.empty()) return rights;
  gid_t number = 0;
  if (absl::SimpleAtoi(group, &number)) {
    rights.group = number;
    return rights;
  }
  constexpr std::size_t kEntryBytesMax = 1024 * 1024;  // a group with many members
  std::vector<char> buffer(kEntryBytesMax);
  struct ::group entry {};
  struct ::group* found = nullptr;
  ::getgrnam_r(group.c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("--socket-group=", group, ": there is no such group; give the name or the number of one"));
  }
  rights.group = found->gr_gid;
  return rights;
}

void remove_socket_file(const std::string& path, const SocketFile& file) {
  const auto lock = SocketLock::take(path);  // without it, too: the file is looked at just before
  if (socket_file_at(path) == file) ::unlink(path.c_str());
}

absl::StatusOr<UnixListener> UnixListener::bind(const std::string& path, const SocketRights& rights) {
  if (auto status = make_folder_of(path); !status.ok()) return status;
  const auto lock = SocketLock::take(path);
  if (!lock.ok()) return lock.status();
  if (auto status = clear(path); !status.ok()) return status;
  return listen_at(path, rights);
}

UnixListener::UnixListener(Descriptor fd, std::string path, SocketFile file)
    : fd_(std::move(fd)), path_(std::move(path)), file_(file) {}

UnixListener::UnixListener(UnixListener&& other) noexcept
    : fd_(std::move(other.fd_)), path_(std::exchange(other.path_, "")), file_(other.file_) {}

UnixListener& UnixListener::operator=(UnixListener&& other) noexcept {
  if (this == &other) return *this;
  remove_file();
  fd_ = std::move(other.fd_);
  path_ = std::exchange(other.path_, "");
  file_ = other.file_;
  return *this;
}

void UnixListener::listen_again() {
  if (!fd_.valid()) return;
  refuse_passed_descriptors(fd_.get());
  ::listen(fd_.get(), kListenBacklog);
}

bool UnixListener::has_file() const { return fd_.valid() && !path_.empty() && socket_file_at(path_) == file_; }

void UnixListener::remove_file() {
  if (has_file()) remove_socket_file(path_, file_);
}

}  // namespace ingot::services_sockets
