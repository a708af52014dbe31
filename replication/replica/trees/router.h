// A replica's broadcasts and their answers by the agreed trees: wires table, relay, combiner and monitor together.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "replication/agreement/agreement.h"
#include "replication/pages/pages.h"
#include "replication/replica/trees/combiner.h"
#include "replication/replica/trees/monitor.h"
#include "replication/replica/trees/plan.h"
#include "replication/replica/trees/relay.h"
#include "replication/replica/trees/state_machine.h"
#include "replication/replica/trees/table.h"
#include "transport/pollable.h"

namespace ingot {

// The session in whose name tree changes stand in the log; the version is the sequence. No client may use it.
inline constexpr std::uint64_t kTreeClient = ~std::uint64_t{0};

// What a replica needs to know to take part in trees. `initial` is the same on all replicas; `plan` should be.
struct TreeOptions {
  TreePlan plan;
  TreeSet initial;
  // What is known of a replica's process; null: nothing, so they run.
  std::function<ReplicaSample::State(int replica)> state_of;
};

// How a change of trees comes about: the leader's monitor wishes for it, the leader plans the trees and proposes them as
// a command, the group agrees, and each replica goes over to them when it applies that command.
//
// Not thread-safe; used by its replica's loop only.
class TreeRouter {
 public:
  using Send = Relay::Send;
  using Deliver = Relay::Deliver;

  // REQUIRES: state and the pages (of all replicas, by id) outlive this.
  TreeRouter(const GroupConfig& group, TreeOptions options, StateMachine& state,
             std::vector<const ReplicaPage*> pages);

  // The state machine to apply commands to, in place of the one that was given.
  StateMachine& state() { return state_; }

  void broadcast(std::string_view message, Send send);
  void answer(EndpointId to, std::string_view message, Send send) { combiner_.answer(to, message, send); }
  // A message of class kRelayed or kCombined. Returns false if it is malformed.
  bool receive(EndpointId from, std::string_view bytes, Send send, Deliver deliver);

  // To be called after commands were applied: if they changed the trees, goes over to the new ones, and calls `missed`
  // for each replica that may have lost broadcasts of this one in an endpoint that is by-passed now.
  void after_apply(Send send, absl::FunctionRef<void(EndpointId)> missed);

  // A look at the group, if one is due. Returns a change that this replica, the leader, should have agreed on, and calls
  // `missed` for each replica that may have lost the last broadcasts before silence. `working`: this round did
  // something. `root`: who broadcasts what was decided.
  std::optional<std::string> check(std::uint64_t now_ns, bool working, EndpointId root,
                                  absl::FunctionRef<void(EndpointId)> missed);

  // When poll() wants to be called though nothing happens; kNever: not at all.
  std::uint64_t check_due_ns() const {
    return quiet_checks_left_ > 0 || monitor_.wants_check() ? next_check_ns_ : Pollable::kNever;
  }

  // In place of poll(), while another replica leads.
  void rest() {
    quiet_checks_left_ = 0;
    monitor_.rest();
  }

  void tick(Send send) { combiner_.tick(send); }
  bool wants_tick() const { return combiner_.wants_tick(); }

  // A replica's process is known to have died, from whatever source.
  void peer_died(EndpointId peer) { monitor_.died(peer.value()); }

  // Whether others in the tree of `root` hang from `peer`.
  bool depends_on(EndpointId root, EndpointId peer) const;

  // What page and status show. `root` as above; the parent of the root is itself.
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
  TreeSet seen_;                // the trees that after_apply() went over to last
  bool has_broadcast_ = false;  // with those
  std::uint64_t next_check_ns_ = 0;
  int quiet_checks_left_ = 0;    // that are due though nothing happens any more
};

}  // namespace ingot
