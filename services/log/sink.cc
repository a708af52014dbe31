#include "services/log/sink.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "transport/host/descriptor.h"

namespace ingot::inline services_log {

namespace {

// Makes `fd` refer to an open file of its own with O_NONBLOCK, of the same pipe or terminal. False: this process may
// not open it, since it belongs to another user, or /proc is missing.
bool reopen(int fd) {
  const int access = ::fcntl(fd, F_GETFL) & O_ACCMODE;
  const Descriptor own(
      ::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), access | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  return own.valid() && ::dup2(own.get(), fd) == fd;
}

// A pipe that cannot be reopened: splice has a flag of its own for not waiting. It takes a page of the pipe for each
// call, so the pipe has room for fewer lines.
ssize_t splice_into(int pipe, std::string_view text) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
  const Descriptor from(ends[0]), to(ends[1]);
  if (::write(to.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) return -1;
  return ::splice(from.get(), nullptr, pipe, nullptr, text.size(), SPLICE_F_NONBLOCK);
}

}  // namespace

LogSink LogSink::never_waiting(int fd) {
  LogSink sink(fd);
  struct stat file{};
  if (::fstat(fd, &file) != 0) return sink;
  const bool terminal = ::isatty(fd) == 1;
  if (S_ISSOCK(file.st_mode)) {
    sink.way_ = Way::kSend;
  } else if ((S_ISFIFO(file.st_mode) || terminal) && !reopen(fd)) {
    sink.way_ = terminal ? Way::kAskFirst : Way::kSplice;
  }
  return sink;  // other files take what they get
}

std::size_t LogSink::write(std::string_view text) const {
  ssize_t written = 0;
  switch (way_) {
    case Way::kWrite:
      written = ::write(fd_, text.data(), text.size());
      break;
    case Way::kSend:
      written = ::send(fd_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      break;
    case Way::kSplice:
      written = splice_into(fd_, text);
      break;
    case Way::kAskFirst:
      written = wait_for_room(0) ? ::write(fd_, text.data(), text.size()) : 0;
      break;
  }
  return static_cast<std::size_t>(std::max<ssize_t>(written, 0));
}

bool LogSink::wait_for_room(int timeout_ms) const {
  pollfd room{fd_, POLLOUT, 0};
  return ::poll(&room, 1, timeout_ms) == 1 && (room.revents & POLLOUT) != 0;
}

}  // namespace ingot::services_log
