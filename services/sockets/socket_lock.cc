#include "services/sockets/socket_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/sockets/limits.h"

namespace ingot::inline services_sockets {

namespace {

// The holder before may have removed the file that was opened here.
bool is_at(int fd, const std::string& path) {
  struct stat opened {
  }, there{};
  return ::fstat(fd, &opened) == 0 && ::lstat(path.c_str(), &there) == 0 && opened.st_dev == there.st_dev &&
         opened.st_ino == there.st_ino;
}

}  // namespace

absl::StatusOr<SocketLock> SocketLock::take(const std::string& socket_path) {
  const std::string path = socket_path + ".lock";
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kSocketLockMs);
  while (true) {
    Descriptor fd(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, S_IRUSR | S_IWUSR));
    if (!fd.valid()) {
      return absl::FailedPreconditionError(
          absl::StrCat("cannot open ", path, ", which guards the Unix socket: ", std::strerror(errno),
                       "; let this user write there, or name another path with --socket=PATH"));
    }
    const bool locked = ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
    if (locked && is_at(fd.get(), path)) return SocketLock(path, std::move(fd));
    if (!locked && std::chrono::steady_clock::now() >= until) {
      return absl::UnavailableError(absl::StrCat("another process has held ", path, " for ", kSocketLockMs / 1000,
                                                 " s; end that one, or name another path with --socket=PATH"));
    }
    if (!locked) std::this_thread::sleep_for(std::chrono::milliseconds(kSocketLockRetryMs));
  }
}

SocketLock::~SocketLock() {
  if (fd_.valid() && is_at(fd_.get(), path_)) ::unlink(path_.c_str());
}

}  // namespace ingot::services_sockets
