// An owned file descriptor. Closed on destruction; moves, never copies. Not thread-safe.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace ingot::inline transport_host {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Descriptor() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;  // -1: none
};

// Decides whether a descriptor stays open in a program that this process (or a child between fork and exec) executes.
// All descriptors that this layer opens are closed on exec by default. Async-signal-safe. Returns false if it is not
// open.
[[nodiscard]] inline bool set_inherited(int fd, bool inherited) {
  const int flags = ::fcntl(fd, F_GETFD);
  if (flags < 0) return false;
  return ::fcntl(fd, F_SETFD, inherited ? flags & ~FD_CLOEXEC : flags | FD_CLOEXEC) == 0;
}

}  // namespace ingot::transport_host
