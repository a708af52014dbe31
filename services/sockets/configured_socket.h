// The Unix socket that the settings --socket, --socket-mode and --socket-group ask for.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "services/config/daemon_config.h"
#include "services/sockets/unix_listener.h"

namespace ingot::inline services_sockets {

struct ConfiguredSocket {
  UnixListener listener;  // invalid: there is none
  std::string why_none;   // a sentence for the log; empty: there is one, or none is wanted
};

// Binds it, and puts its path into config.socket, empty if there is none. With kAutomaticSocket it is the first of
// default_socket_paths() at which one can be made, or none. REQUIRES: the instance's name is known and claimed. Errors:
// those of socket_rights and UnixListener::bind; with kAutomaticSocket only if a process listens at such a path.
absl::StatusOr<ConfiguredSocket> open_configured_socket(DaemonConfig& config);

// Likewise, at the path that the instance has. For a supervisor that finds the socket's file gone.
absl::StatusOr<UnixListener> open_socket_again(const DaemonConfig& config);

}  // namespace ingot::services_sockets
