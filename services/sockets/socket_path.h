// The path of an instance's Unix socket, for the daemon that makes it and the programs that look for it.
#pragma once

#include <string>

#include "transport/host/instance_paths.h"

namespace ingot::inline services_sockets {

// The path as a target of gRPC: "unix:/run/ingot/a%20b.sock". REQUIRES: an absolute path.
std::string unix_target(const std::string& path);

}  // namespace ingot::services_sockets
