// The replicas of a simulated group in all their incarnations, the state that their supervisor keeps, and the roles.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "replication/agreement/registry.h"
#include "tests/simulation/plan.h"
#include "tests/simulation/simulated_replica.h"

namespace ingot::simulation {

// One place of the group: its present incarnation, if it has one.
struct Place {
  std::unique_ptr<SimulatedReplica> replica;  // null: dead
  std::shared_ptr<SimulatedSegment> segment;  // of the present incarnation, or of the last
  Incarnation incarnation{0};                 // likewise; 0: none has begun
  bool stopped = false;

  bool runs() const { return replica != nullptr && !stopped; }
};

// Not thread-safe.
class SimulatedGroup {
 public:
  // REQUIRES: options, plan and environment outlive this.
  SimulatedGroup(const Options& options, const Plan& plan, Environment& environment);

  int replicas() const { return static_cast<int>(places_.size()); }
  int voters() const { return voters_; }
  Place& at(int replica) { return places_[static_cast<std::size_t>(replica)]; }
  const Place& at(int replica) const { return places_[static_cast<std::size_t>(replica)]; }

  // Makes the segment of the next incarnation (the first one has number 1). REQUIRES: the one before is dead.
  void begin(int replica);
  // A snapshot is kept from now on, so the supervisor releases segments. Returns how many.
  std::size_t release();
  // Of the kept segments that wait for another one.
  std::size_t waiting_bytes() const { return segments_.waiting_bytes(needed_from()); }
  const KnownSegments& kept() const { return segments_; }
  // Starts it, from a snapshot if there is one. REQUIRES: every replica has begun.
  void start(int replica, PublishedSnapshot snapshot);
  // Ends it: its segment is final. Returns what the kernel would free later; the returned replica must not be polled
  // again.
  std::unique_ptr<SimulatedReplica> end(int replica);

  ReplicaIncarnation name_of(int replica) const {
    return {EndpointId(static_cast<std::uint16_t>(replica)), at(replica).incarnation};
  }

  // The running leader with the highest ballot; -1: no replica leads.
  int leader() const;
  // The acceptor as the leader knows it; in protocols without one, another voter. -1: no replica leads.
  int acceptor() const;

 private:
  Slot needed_from() const;
  GroupConfig config(int replica) const;
  std::shared_ptr<const StableView> predecessor(int replica) const;
  std::optional<TreeOptions> trees() const;

  const Options& options_;
  const Plan& plan_;
  Environment& environment_;
  const AgreementTraits traits_;
  const int voters_;
  std::vector<Place> places_;
  KnownSegments segments_;  // kept by the supervisor
};

}  // namespace ingot::simulation
