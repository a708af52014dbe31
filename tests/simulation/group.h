// The replicas of a simulated group through their incarnations, what they leave behind, and who plays which role.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "replication/stable/view.h"
#include "tests/simulation/node.h"
#include "tests/simulation/plan.h"

namespace ingot::simulation {

// One place of the group: its present incarnation, if it has one, and the segments of its former incarnations.
struct Place {
  std::unique_ptr<Node> node;  // null: dead
  Incarnation incarnation{1};
  bool stopped = false;
  std::vector<std::shared_ptr<const StableView>> segments;  // by incarnation - 1
  std::shared_ptr<const StableView> buried;    // of the present incarnation, if it is taken for dead
  std::shared_ptr<const StableView> heritage;  // of the last incarnation that had stored what it had inherited

  bool runs() const { return node != nullptr && !stopped; }
};

// Not thread-safe.
class SimulatedGroup {
 public:
  // REQUIRES: options and plan outlive this.
  SimulatedGroup(const Options& options, const Plan& plan);

  int replicas() const { return static_cast<int>(places_.size()); }
  int voters() const { return voters_; }
  Place& at(int replica) { return places_[static_cast<std::size_t>(replica)]; }
  const Place& at(int replica) const { return places_[static_cast<std::size_t>(replica)]; }

  // Begins the next incarnation (the first one has incarnation 1).
  void start(int replica, Environment& environment);
  // Ends it: its segment is final. Returns what the kernel lets go of later; it must not be polled any more.
  std::unique_ptr<Node> end(int replica);

  // For a mutant: a stopped incarnation's segment is taken for its last word.
  void bury_alive(int replica) { at(replica).buried = std::make_shared<const StableView>(at(replica).node->stable()); }

  ReplicaIncarnation name_of(int replica) const {
    return {EndpointId(static_cast<std::uint16_t>(replica)), at(replica).incarnation};
  }
  // The segment of a dead incarnation; null if it is alive or never was.
  std::shared_ptr<const StableView> segment_of(ReplicaIncarnation name) const;
  // The same for the living: as it is now.
  std::shared_ptr<const StableView> content_of(ReplicaIncarnation name) const;

  // The replica that leads with the highest ballot, dead ones aside; -1: nobody.
  int leader() const;
  // Whom the leader takes for the acceptor; in protocols without one, another voter. -1: nobody leads.
  int acceptor() const;

 private:
  GroupConfig config(int replica) const;

  const Options& options_;
  const Plan& plan_;
  int voters_;
  std::vector<Place> places_;
};

}  // namespace ingot::simulation
