#include "replication/replica/trees/router.h"

#include <utility>

#include "replication/replica/trees/limits.h"

namespace ingot::inline replication_replica_trees {

TreeRouter::TreeRouter(const GroupConfig& group, TreeOptions options, StateMachine& state,
                       std::vector<const ReplicaPage*> pages)
    : self_(group.self),
      options_(std::move(options)),
      pages_(std::move(pages)),
      table_(options_.initial),
      state_(state, table_),
      relay_(group.self, group.incarnation, table_),
      combiner_(group.self, table_),
      monitor_(group.replicas),
      seen_(table_.current()) {}

void TreeRouter::broadcast(const GatheredMessage& message, Send send) {
  has_broadcast_ = true;
  relay_.broadcast(message, send);
}

bool TreeRouter::receive(EndpointId from, std::string_view bytes, Send send, Deliver deliver) {
  if (static_cast<MessageClass>(bytes.front()) == MessageClass::kCombined) {
    return combiner_.receive(bytes, send, deliver);
  }
  const std::uint64_t refused = relay_.counts().refused;
  relay_.receive(from, bytes, send, deliver);
  return relay_.counts().refused == refused;
}

void TreeRouter::after_apply(Send send, absl::FunctionRef<void(EndpointId)> missed) {
  if (seen_.version == table_.version()) return;
  const RootedTree* old_tree = seen_.of(self_.value());
  const ReplicaSet newly = table_.current().bypassed - seen_.bypassed;
  ReplicaSet below;
  for (int replica = 0; old_tree != nullptr && replica < seen_.replicas(); ++replica) {
    if (newly.contains(replica)) below |= old_tree->subtree[replica] - ReplicaSet::of(replica);
  }
  seen_ = table_.current();
  relay_.table_changed(send);
  if (!std::exchange(has_broadcast_, false)) return;
  for (const EndpointId replica : below) missed(replica);
}

// Checks go on for a little after the last work: since the last check an inner endpoint may have stopped or died before
// it forwarded the last message, and no later message would show it.
std::optional<std::string> TreeRouter::check(std::uint64_t now_ns, bool working, EndpointId root,
                                            absl::FunctionRef<void(EndpointId)> missed) {
  if (working) quiet_checks_left_ = kQuietChecks;
  if (now_ns < next_check_ns_ || check_due_ns() == Pollable::kNever) return std::nullopt;
  next_check_ns_ = now_ns + kTreeCheckNs;
  if (!working && quiet_checks_left_ > 0) --quiet_checks_left_;
  const auto wish = monitor_.check(table_.current(), root.value(), self_.value(), sample());
  for (const EndpointId replica : monitor_.stranded()) missed(replica);
  if (!wish) return std::nullopt;
  TreeSet trees = plan_trees(options_.plan, wish->conditions);
  trees.version = next_version();
  trees.reason = wish->reason;
  return encode(trees);
}

std::vector<ReplicaSample> TreeRouter::sample() const {
  std::vector<ReplicaSample> samples;
  for (std::size_t replica = 0; replica < pages_.size(); ++replica) {
    const ReplicaPage& page = *pages_[replica];
    ReplicaSample sample;
    if (options_.state_of) sample.state = options_.state_of(static_cast<int>(replica));
    sample.applied = page[ReplicaCounter::kAppliedSlots].get();
    sample.costs = {page[ReplicaCounter::kBusyNs].get(), page[ReplicaCounter::kHandledMessages].get()};
    samples.push_back(sample);
  }
  return samples;
}

bool TreeRouter::depends_on(EndpointId root, EndpointId peer) const {
  const RootedTree* tree = table_.current().of(root.value());
  return tree != nullptr && tree->inner(peer.value());
}

void TreeRouter::publish(EndpointId root, ReplicaPage& page) const {
  const TreeSet& trees = table_.current();
  const RootedTree* tree = trees.of(root.value());
  const int self = self_.value();
  const int parent = self == root.value() ? self : tree != nullptr ? tree->parent[self] : root.value();
  page[ReplicaCounter::kTreeVersion].set(trees.version);
  page[ReplicaCounter::kTreeParent].set(static_cast<std::uint64_t>(parent));
  page[ReplicaCounter::kTreeBypassed].set(trees.bypassed.bits());
  page[ReplicaCounter::kTreeReason].set(static_cast<std::uint64_t>(trees.reason));
  page[ReplicaCounter::kRelayedMessages].set(relay_.counts().forwarded);
  page[ReplicaCounter::kLateRelays].set(relay_.counts().late);
}

}  // namespace ingot::replication_replica_trees
