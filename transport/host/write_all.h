// Writing to a descriptor, however often the kernel takes a part only.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace ingot::inline transport_host {

// False: not all of it was written, and errno says why. For descriptors that block. Async-signal-safe.
inline bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace ingot::transport_host
