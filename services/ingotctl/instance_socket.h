// Finds the Unix socket of the instance that listens on a loopback address, over which the daemon knows who calls.
#pragma once

#include <grpcpp/channel.h>

#include <chrono>
#include <string>

namespace ingot::inline services_ingotctl {

// Whether `asked`, an address of this machine alone, reaches an instance that says that it listens on `listens`. Both
// are HOST:PORT. False also when that cannot be told.
bool reaches(const std::string& asked, const std::string& listens);

// The path of the Unix socket of the instance that listens on `asked`; empty: to be called by `asked` itself. Empty if
// that is not a loopback address, no socket is found, or this user may not connect to it. Looked for are, in this
// order:
//
//   $INGOT_SOCKET                                    set and empty: no socket is looked for
//   default_socket_paths() of the port's own name    services/sockets/socket_path.h
//   the socket that the instance at `asked` names    in its status, asked by way of `tcp`
//
// A socket counts only if the instance behind it says that it listens on `asked`: so no other daemon is ever called
// than the one that was asked for. Takes at most `timeout`.
std::string find_instance_socket(const std::string& asked, const std::shared_ptr<grpc::Channel>& tcp,
                                 std::chrono::nanoseconds timeout);

// A channel to HOST:PORT or unix:PATH, as parsed by add_endpoint().
std::shared_ptr<grpc::Channel> open_channel(const std::string& endpoint);

}  // namespace ingot::services_ingotctl
