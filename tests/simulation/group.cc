#include "tests/simulation/group.h"

#include <utility>

#include "core/check.h"
#include "core/rule.h"
#include "replication/agreement/registry.h"

namespace ingot::simulation {

SimulatedGroup::SimulatedGroup(const Options& options, const Plan& plan, Environment& environment)
    : options_(options),
      plan_(plan),
      environment_(environment),
      traits_(traits_of(options.agreement)),
      voters_(options.voters),
      places_(static_cast<std::size_t>(options.replicas)),
      segments_(options.replicas) {
  for (int replica = 0; replica < replicas(); ++replica) begin(replica);
  for (int replica = 0; replica < replicas(); ++replica) start(replica, nullptr);
}

void SimulatedGroup::begin(int replica) {
  Place& place = at(replica);
  INGOT_CHECK(place.replica == nullptr, "one incarnation at a time");
  place.incarnation = place.incarnation.next();
  const ReplicaIncarnation name = name_of(replica);
  place.segment = std::make_shared<SimulatedSegment>(name.id, name.incarnation, plan_.replica.segment_bytes,
                                                     environment_.pressed);
  segments_.begin(name, place.segment);
}

std::size_t SimulatedGroup::release() { return segments_.release(needed_from()); }

// Votes for lower slots need not be kept.
Slot SimulatedGroup::needed_from() const {
  if (left_out == "kept-until-published") return Slot(kSlotsMax);
  return traits_.votes_are_history ? environment_.published_below() : Slot(kSlotsMax);
}

// The stored state of the incarnation before, as far as this one inherits it.
std::shared_ptr<const StableView> SimulatedGroup::predecessor(int replica) const {
  const KnownSegments::Incarnations& known = segments_.of(name_of(replica).id);
  if (known.size() < 2) return nullptr;
  StableView view = known[known.size() - 2].memory->model().read();
  if (traits_.votes_are_history) {
    view.accepted.clear();
    view.history.clear();
    view.committed.clear();
    view.proposed.clear();
    view.accepted_end = view.proposed_end = Slot(0);
  }
  return std::make_shared<const StableView>(std::move(view));
}

GroupConfig SimulatedGroup::config(int replica) const {
  GroupConfig config;
  config.replicas = replicas();
  config.voters = voters_;
  config.self = name_of(replica).id;
  config.incarnation = at(replica).incarnation;
  config.bounds = plan_.bounds;
  config.predecessor = predecessor(replica);
  if (left_out == "names") {
    config.incarnation = Incarnation(1);
    config.predecessor = nullptr;
  }
  return config;
}

std::optional<TreeOptions> SimulatedGroup::trees() const {
  if (plan_.tree_shape.empty()) return std::nullopt;
  TreeOptions trees;
  trees.plan = {.replicas = replicas(), .voters = voters_, .shape = plan_.tree_shape};
  trees.initial = plan_trees(trees.plan, {});
  trees.state_of = [this](int replica) {
    const Place& place = at(replica);
    if (place.replica == nullptr) return ReplicaSample::State::kDead;
    return place.stopped ? ReplicaSample::State::kStopped : ReplicaSample::State::kRunning;
  };
  return trees;
}

void SimulatedGroup::start(int replica, PublishedSnapshot snapshot) {
  Place& place = at(replica);
  place.stopped = false;
  const GroupConfig group = config(replica);
  place.replica = std::make_unique<SimulatedReplica>(
      SimulatedReplica::Setup{.group = group,
                              .incarnation = place.incarnation,
                              .agreement = make_agreement(options_.agreement, group),
                              .schedule = plan_.replica,
                              .trees = trees(),
                              .fences = plan_.fencing,
                              .segment = place.segment,
                              .segments = segments_,
                              .snapshot = std::move(snapshot),
                              .environment = &environment_});
}

std::unique_ptr<SimulatedReplica> SimulatedGroup::end(int replica) {
  Place& place = at(replica);
  place.segment->marked_dead = true;
  return std::move(place.replica);
}

int SimulatedGroup::leader() const {
  int leader = -1;
  Ballot highest;
  for (int replica = 0; replica < replicas(); ++replica) {
    if (!at(replica).replica) continue;
    const Agreement& agreement = at(replica).replica->agreement();
    if (agreement.role() != Role::kLeader || (leader >= 0 && agreement.ballot() < highest)) continue;
    leader = replica;
    highest = agreement.ballot();
  }
  return leader;
}

int SimulatedGroup::acceptor() const {
  const int leader = this->leader();
  if (leader < 0) return -1;
  const int acceptor = at(leader).replica->agreement().acceptor().value();
  return acceptor != leader || voters_ == 1 ? acceptor : (leader + 1) % voters_;
}

}  // namespace ingot::simulation
