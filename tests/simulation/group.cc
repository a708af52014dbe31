#include "tests/simulation/group.h"

#include <utility>

#include "core/check.h"
#include "replication/agreement/registry.h"

namespace ingot::simulation {

SimulatedGroup::SimulatedGroup(const Options& options, const Plan& plan)
    : options_(options), plan_(plan), voters_(options.voters), places_(static_cast<std::size_t>(options.replicas)) {}

GroupConfig SimulatedGroup::config(int replica) const {
  GroupConfig config;
  config.replicas = replicas();
  config.voters = voters_;
  config.self = EndpointId(static_cast<std::uint16_t>(replica));
  config.incarnation = at(replica).incarnation;
  config.bounds = plan_.bounds;
  config.predecessor = at(replica).heritage;
  if (options_.mutant == Mutant::kSuccessorWithoutVotes && config.predecessor) {
    config.predecessor = std::make_shared<const StableView>();
  }
  if (options_.mutant == Mutant::kNameUsedTwice) {
    config.incarnation = Incarnation(1);
    config.predecessor = nullptr;
  }
  config.fencing = plan_.fencing;
  return config;
}

void SimulatedGroup::start(int replica, Environment& environment) {
  Place& place = at(replica);
  INGOT_CHECK(place.node == nullptr, "one incarnation at a time");
  if (!place.segments.empty()) place.incarnation = place.incarnation.next();
  place.stopped = false;
  place.buried = nullptr;
  const GroupConfig group = config(replica);
  place.node = std::make_unique<Node>(
      Node::Setup{group, mutate(options_.mutant, make_agreement(options_.agreement, group), group), plan_.node,
                  options_.mutant, &environment});
}

std::unique_ptr<Node> SimulatedGroup::end(int replica) {
  Place& place = at(replica);
  place.segments.push_back(std::make_shared<const StableView>(place.node->stable()));
  if (place.node->has_started()) place.heritage = place.segments.back();
  return std::move(place.node);
}

std::shared_ptr<const StableView> SimulatedGroup::segment_of(ReplicaIncarnation name) const {
  const Place& place = at(name.id.value());
  const std::size_t incarnation = name.incarnation.value() - 1;
  return incarnation < place.segments.size() ? place.segments[incarnation] : place.buried;
}

std::shared_ptr<const StableView> SimulatedGroup::content_of(ReplicaIncarnation name) const {
  const Place& place = at(name.id.value());
  if (place.node && place.incarnation == name.incarnation) return std::make_shared<const StableView>(place.node->stable());
  return segment_of(name);
}

int SimulatedGroup::leader() const {
  int leader = -1;
  Ballot highest;
  for (int replica = 0; replica < replicas(); ++replica) {
    if (!at(replica).node) continue;
    const AgreementStatus status = at(replica).node->agreement().status();
    if (status.role != Role::kLeader || (leader >= 0 && status.ballot < highest)) continue;
    leader = replica;
    highest = status.ballot;
  }
  return leader;
}

int SimulatedGroup::acceptor() const {
  const int leader = this->leader();
  if (leader < 0) return -1;
  const int acceptor = at(leader).node->agreement().status().acceptor.value();
  return acceptor != leader || voters_ == 1 ? acceptor : (leader + 1) % voters_;
}

}  // namespace ingot::simulation
