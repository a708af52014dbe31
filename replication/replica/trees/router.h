// A replica's broadcasts and their answers along the agreed trees: connects table, relay, combiner and monitor.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/gathered_message.h"
#include "replication/agreement/agreement.h"
#include "replication/pages/pages.h"
#include "replication/replica/trees/combiner.h"
#include "replication/replica/trees/monitor.h"
#include "replication/replica/trees/plan.h"
#include "replication/replica/trees/relay.h"
#include "replication/replica/trees/state_machine.h"
#include "replication/replica/trees/table.h"
#include "transport/pollable.h"

namespace ingot::inline replication_replica_trees {

// The client session of tree changes in the log; a change's version is its sequence. No client may use it.
inline constexpr std::uint64_t kTreeClient = ~std::uint64_t{0};

// What a replica needs to take part in trees. `initial` is the same on all replicas; `plan` should be.
struct TreeOptions {
  TreePlan plan;
  TreeSet initial;
  // The state of a replica's process; null: unknown, so all count as running.
  std::function<ReplicaSample::State(int replica)> state_of;
};

// How trees change: the leader's monitor wishes for it, the leader plans the trees and proposes them as a command, the
// group agrees, and each replica switches to them when it applies that command.
//
// Not thread-safe; used by its replica's loop only.
class TreeRouter {
 public:
  using Send = Relay::Send;
  using Deliver = Relay::Deliver;

  // REQUIRES: state and the pages (of all replicas, by id) outlive this.
  TreeRouter(const GroupConfig& group, TreeOptions options, StateMachine& state,
             std::vector<const ReplicaPage*> pages);

  // The state machine that commands are applied to: the given one behind the tree changes.
  StateMachine& state() { return state_; }

  void broadcast(const GatheredMessage& message, Send send);
  void answer(EndpointId to, std::string_view message, Send send) { combiner_.answer(to, message, send); }
  // A message of class kRelayed or kCombined. Returns false if it is malformed.
  bool receive(EndpointId from, std::string_view bytes, Send send, Deliver deliver);

  // Called after commands were applied. If they changed the trees, switches to the new ones, and calls `missed` for
  // each replica that may have lost broadcasts of this one in an endpoint that is now bypassed.
  void after_apply(Send send, absl::FunctionRef<void(EndpointId)> missed);

  // Checks the group, if a check is due. Returns a change that this replica, the leader, should propose, and calls
  // `missed` for each replica that may have lost the last broadcasts before a silence. `working`: this round found
  // work. `root`: the replica that broadcasts decisions.
  std::optional<std::string> check(std::uint64_t now_ns, bool working, EndpointId root,
                                  absl::FunctionRef<void(EndpointId)> missed);

  // When check() is due without further work, in ns; kNever: not at all.
  std::uint64_t check_due_ns() const {
    return quiet_checks_left_ > 0 || monitor_.wants_check() ? next_check_ns_ : Pollable::kNever;
  }

  // In place of check(), while another replica leads.
  void rest() {
    quiet_checks_left_ = 0;
    monitor_.rest();
  }

  void tick(Send send) { combiner_.tick(send); }
  bool wants_tick() const { return combiner_.wants_tick(); }

  // A replica's process is known to have died; any source may report it.
  void peer_died(EndpointId peer) { monitor_.died(peer.value()); }

  // Whether `peer` has children in the tree of `root`.
  bool depends_on(EndpointId root, EndpointId peer) const;

  // Writes the page's counters of trees. `root` as above; the parent of the root is itself.
  void publish(EndpointId root, ReplicaPage& page) const;

  const TreeTable& table() const { return table_; }
  const Relay& relay() const { return relay_; }
  std::uint32_t next_version() const { return table_.version() + 1; }
  std::uint64_t refused() const { return relay_.counts().refused; }

 private:
  std::vector<ReplicaSample> sample() const;

  const EndpointId self_;
  const TreeOptions options_;
  const std::vector<const ReplicaPage*> pages_;
  TreeTable table_;
  TreeStateMachine state_;
  Relay relay_;
  AnswerCombiner combiner_;
  TreeMonitor monitor_;
  TreeSet seen_;                // the trees in force after the last after_apply()
  bool has_broadcast_ = false;  // along seen_
  std::uint64_t next_check_ns_ = 0;
  int quiet_checks_left_ = 0;    // checks still due without further work
};

}  // namespace ingot::replication_replica_trees
