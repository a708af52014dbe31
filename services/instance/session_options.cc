#include "services/instance/session_options.h"

#include <sys/random.h>

#include <algorithm>
#include <cstdint>

#include "core/check.h"

namespace ingot::inline services_instance {

namespace {

std::uint64_t new_session() {
  std::uint64_t session = 0;
  INGOT_CHECK(::getrandom(&session, sizeof session, 0) == sizeof session, "the kernel's randomness is missing");
  return session;
}

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
  options.session = new_session();
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
