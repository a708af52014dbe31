// How a replica's broadcasts, and the answers to them, reach the group: along an agreed tree, or directly to each
// replica.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/gathered_message.h"
#include "replication/agreement/agreement.h"
#include "replication/replica/action_queue.h"
#include "replication/replica/peer_states.h"
#include "replication/replica/trees/router.h"
#include "replication/requests/request.h"

namespace ingot::inline replication_replica_trees {

// Not thread-safe; used by its replica's core only.
class Broadcaster {
 public:
  using Missed = absl::FunctionRef<void(EndpointId)>;  // a replica that may have lost broadcasts of this one

  // Without trees, or with those of a plain star, each message goes to each replica directly.
  // REQUIRES: the references and the pages outlive this.
  Broadcaster(const GroupConfig& group, std::optional<TreeOptions> trees, StateMachine& state,
              const std::vector<const ReplicaPage*>& pages, const Agreement& agreement, const PeerStates& peers,
              ActionQueue& queue);

  // The state machine that commands are applied to: `state`, or the trees in front of it.
  StateMachine& state() { return router_ ? router_->state() : state_; }
  const TreeRouter* router() const { return router_.get(); }  // null: no trees

  // Whether a broadcast of this replica, or an answer to one of `root`, now goes along a tree.
  bool broadcasts_by_tree() const;
  bool answers_by_tree(EndpointId root) const;
  void broadcast(const GatheredMessage& message);
  void answer(EndpointId root, std::string_view message);

  // A message that travels along a tree: forwards it, and calls `deliver` if it is for this replica. False: it is
  // refused.
  bool receive(EndpointId from, std::string_view message, TreeRouter::Deliver deliver);

  void after_apply(Missed missed);
  // Checks the group, if a check is due. `working`: this round found work. Proposes a change of trees through
  // `propose`.
  void check(std::uint64_t now_ns, bool working, absl::FunctionRef<void(const Request&)> propose, Missed missed);
  void peer_died(EndpointId peer);
  void tick();
  bool wants_tick() const { return router_ && router_->wants_tick(); }
  std::uint64_t check_due_ns() const { return router_ ? router_->check_due_ns() : Pollable::kNever; }

  void publish(ReplicaPage& page) const;

 private:
  bool is_whole(EndpointId root) const;

  const GroupConfig& group_;
  StateMachine& state_;
  const Agreement& agreement_;
  const PeerStates& peers_;
  ActionQueue& queue_;
  std::unique_ptr<TreeRouter> router_;
};

}  // namespace ingot::replication_replica_trees
