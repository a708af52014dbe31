// Who has made a call. Value type.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace ingot {

struct Caller {
  enum class Door { kTcp, kUnix };
  // Of the process that connected, as the kernel noted them at that moment (SO_PEERCRED).
  struct Credentials {
    uid_t uid;
    gid_t gid;
    pid_t pid;
  };

  Door door = Door::kTcp;
  std::string address;                     // "127.0.0.1:40312", or "unix:pid=4711,uid=0"
  std::optional<Credentials> credentials;  // kUnix only
};

}  // namespace ingot
