// The TCP socket on which an instance listens. The supervisor makes it and every process inherits it, so connections
// wait while a front end starts again.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/sockets/limits.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_sockets {

// Listens on `address` ("HOST:PORT"), non-blocking; the address is free again when the last duplicate closes. A name
// with several addresses takes its first IPv4 one, if it has any. "[::]" takes IPv4, too. A port of 0 is replaced by a
// free one. Errors: ALREADY_EXISTS (in use), INVALID_ARGUMENT (not an address of this machine, no permission for the
// port). `flag` is the command-line flag that errors name.
absl::StatusOr<Descriptor> claim_listen_address(std::string& address, const std::string& flag,
                                                int backlog = kListenBacklog);

// Whether only programs of this machine can connect to the socket.
bool is_loopback(int listener);

// From now on connections are refused, also in other processes that have the socket; those that wait are reset.
void refuse_connections(int listener);
// Ends refuse_connections(), if it was called. Errors: ALREADY_EXISTS (another program has taken the address
// meanwhile), INVALID_ARGUMENT (not such a socket).
absl::Status listen_again(int listener);

}  // namespace ingot::services_sockets
