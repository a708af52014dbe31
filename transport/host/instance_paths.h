// Where an instance's Unix sockets are on this machine, for the daemon that makes them and the programs that look for
// them.
#pragma once

#include <sys/un.h>

#include <cstddef>
#include <string>
#include <vector>

namespace ingot::inline transport_host {

inline constexpr std::size_t kUnixPathBytesMax = sizeof(sockaddr_un::sun_path) - 1;  // and a zero byte

// The paths of which an instance of that name takes the first one that it can have, by --socket=auto:
//
//   $RUNTIME_DIRECTORY/NAME.sock        if systemd has made a folder for this service
//   /run/ingot/NAME.sock
//   $XDG_RUNTIME_DIR/ingot/NAME.sock    if there is a user's session
//
// Paths that are longer than kUnixPathBytesMax are left out. Reads the environment, so it is not to be called while
// another thread changes it.
std::vector<std::string> default_socket_paths(const std::string& instance);

// Where readers of an instance's view connect, beside its socket: "NAME.view.sock" for "NAME.sock".
std::string view_socket_path(const std::string& socket);

// The default name of an instance that listens on a port: "ingot-2379".
std::string default_instance_name(int port);

}  // namespace ingot::transport_host
