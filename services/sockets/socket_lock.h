// Makes those who bind or remove one Unix socket's file take turns.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_sockets {

// Holds a lock (flock) on the file PATH.lock, which only its owner can open, and which the destructor removes. The
// kernel releases the lock when its holder ends, however that happens.
class SocketLock {
 public:
  // Waits at most kSocketLockMs. Errors: UNAVAILABLE (another process held it for so long), FAILED_PRECONDITION (the
  // lock's file cannot be made or opened).
  static absl::StatusOr<SocketLock> take(const std::string& socket_path);

  SocketLock(SocketLock&& other) noexcept = default;
  SocketLock& operator=(SocketLock&& other) = delete;
  ~SocketLock();

 private:
  SocketLock(std::string path, Descriptor fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  Descriptor fd_;
};

}  // namespace ingot::services_sockets
