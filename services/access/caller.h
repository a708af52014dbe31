// The peer of a connection: by which door it came, and what the kernel says of it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace ingot::inline services_access {

// A plain value. The server fills it in when it accepts the connection; nothing that a client sends changes it.
struct Caller {
  enum class Door : std::uint8_t { kTcp, kUnix };
  // Of the process that connected, at that time (SO_PEERCRED).
  struct Credentials {
    uid_t uid = 0;
    gid_t gid = 0;
    pid_t pid = 0;
  };

  Door door = Door::kTcp;
  std::string address;                     // for logs: "127.0.0.1:40312", "[::1]:40312" or "unix:pid=4711,uid=0"
  std::optional<Credentials> credentials;  // kUnix only; without value where the kernel does not tell
};

}  // namespace ingot::services_access
