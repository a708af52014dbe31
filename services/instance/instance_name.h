// Claims the instance's name before any process is started.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "services/config/daemon_config.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_instance {

// The name of an instance with these settings: of --name, else of the port (ingot-PORT). Empty while the port is to be
// chosen, or if the address is wrong.
std::string instance_name(const DaemonConfig& config);

// Claims a name among the instances of this process's user; it is free again when the descriptor closes or the process
// dies. What other users bind does not count (services/handover/process_sockets.h). REQUIRES: as listen_as. Errors:
// ALREADY_EXISTS (an instance of that name runs, or what a dead supervisor left behind holds the name for longer than
// kClaimTries times kClaimTryMs), others as for listen_as and find_sockets.
absl::Status claim_instance_name(const std::string& name, Descriptor& claim);

}  // namespace ingot::services_instance
