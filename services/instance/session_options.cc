#include "services/instance/session_options.h"

#include <algorithm>
#include <cstdint>

#include "transport/host/kernel_random.h"

namespace ingot::inline services_instance {

namespace {

// The page of the replica that has seen the newest leadership; a dead replica's page shows an older one.
const ReplicaPage& best_informed(const InstanceView& view) {
  return **std::max_element(view.replicas.begin(), view.replicas.end(), [](const auto* a, const auto* b) {
    return (*a)[ReplicaCounter::kBallot].get() < (*b)[ReplicaCounter::kBallot].get();
  });
}

}  // namespace

SessionClient::Options session_options(const LaunchSpec& spec, const InstanceView& view,
                                       PeerIncarnations& incarnations, Incarnation incarnation) {
  SessionClient::Options options;
  options.replicas = spec.config.replicas;
  options.session = draw_random_u64();
  options.incarnation = incarnation;
  options.incarnations = &incarnations;
  options.pages = view.replicas;
  const ReplicaPage& page = best_informed(view);
  options.leader = EndpointId(static_cast<std::uint16_t>(page[ReplicaCounter::kLeader].get()));
  options.acceptor = EndpointId(static_cast<std::uint16_t>(page[ReplicaCounter::kAcceptor].get()));
  options.nearest = EndpointId(static_cast<std::uint16_t>(spec.config.replicas - 1));
  options.daemon = view.daemon;
  return options;
}

}  // namespace ingot::services_instance
