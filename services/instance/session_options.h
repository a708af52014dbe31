// How a process of an instance, other than a replica, opens its session with the replicas.
#pragma once

#include "core/types.h"
#include "replication/client/session_client.h"
#include "replication/pages/instance_view.h"
#include "services/launch/launch_spec.h"
#include "transport/host/peer_incarnations.h"

namespace ingot::inline services_instance {

// `incarnation`: of the process's endpoints. `view` and `incarnations` outlive the session.
SessionClient::Options session_options(const LaunchSpec& spec, const InstanceView& view,
                                       PeerIncarnations& incarnations, Incarnation incarnation);

}  // namespace ingot::services_instance
