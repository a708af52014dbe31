// When the trees should change: an inner endpoint is dead, stopped or slow; a bypassed one is well again; another
// replica leads; costs have drifted. With hysteresis, against oscillation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/replica_set.h"
#include "replication/replica/trees/costs.h"
#include "replication/replica/trees/plan.h"
#include "replication/replica/trees/set.h"

namespace ingot::inline replication_replica_trees {

// One replica's progress and state at one time.
struct ReplicaSample {
  enum class State : std::uint8_t { kRunning, kStopped, kDead };  // as far as is known
  State state = State::kRunning;
  std::uint64_t applied = 0;  // slots below it are applied there
  CostTotals costs;
};

// Runs on the leader: all replicas' samples in, wishes for other trees out. Pure: time is the number of checks, one
// each kTreeCheckNs while there is work. Its state is lost when another replica leads, whose monitor starts afresh.
//
// A replica is behind if it has not applied what some replica had applied at the check before. The inner endpoint to
// blame is one that is behind while its parent is not: replicas below it can only have what it forwards.
//
// Bounded oscillation: each bypass doubles the time that its endpoint must be well before it returns, up to
// kReturnChecksMax checks; and a leader wishes at most once in kChangeChecks checks.
//
// Not thread-safe.
class TreeMonitor {
 public:
  explicit TreeMonitor(int replicas);

  struct Wish {
    TreeReason reason;
    TreeConditions conditions;
  };

  // One check. `root`: the replica whose broadcasts decide slots, the acceptor or the leader. `leader`: this replica.
  // REQUIRES: samples of all replicas, by id.
  std::optional<Wish> check(const TreeSet& trees, int root, int leader, std::span<const ReplicaSample> samples);

  // The endpoint is known to be dead and counts so, whatever its samples show, until they show progress.
  void died(int replica) { known_dead_.insert(replica); }

  // True if a check may find something even without progress, so that it is wanted although no slot is decided.
  bool wants_check() const { return suspects_; }

  // Running replicas that lack what some replica had applied at the check before, though none has applied anything
  // since: they may have lost messages, and no later message will show it.
  ReplicaSet stranded() const { return stranded_; }

  // Another replica leads: no check is wanted here.
  void rest() { suspects_ = false; }

 private:
  struct Endpoint {
    std::uint64_t applied = 0;  // at the last check
    int stopped_checks = 0;     // in a row
    int slow_checks = 0;
    int well_checks = 0;         // while bypassed
    int steady_checks = 0;       // while in the tree
    int return_checks = 0;       // required to return; 0: never bypassed, or forgiven
  };

  void observe(const TreeSet& trees, const RootedTree* tree, std::span<const ReplicaSample> samples);
  void observe_one(int replica, const TreeSet& trees, const RootedTree* tree, const ReplicaSample& sample);
  bool behind(int replica, const ReplicaSample& sample) const { return replica != leader_ && sample.applied < bar_; }
  bool unfit(int replica) const;
  bool to_bypass(int replica, const TreeSet& trees, ReplicaSet inner) const;
  void note_bypass(int replica);
  void measure(const TreeSet& trees, std::span<const ReplicaSample> samples);
  bool costs_call(const TreeSet& trees, ReplicaSet inner) const;

  std::vector<Endpoint> endpoints_;
  CostDrift costs_;
  ReplicaSet known_dead_;
  ReplicaSet behind_;          // at the last check
  ReplicaSet dead_;            // likewise
  ReplicaSet stranded_;        // likewise
  std::uint64_t bar_ = 0;       // the highest applied slot at the check before
  std::uint64_t most_ = 0;      // the same at the last check
  bool progress_ = false;       // between these two
  int leader_ = 0;
  int checks_since_wish_ = 0;
  int window_checks_ = 0;
  bool suspects_ = false;
};

}  // namespace ingot::replication_replica_trees
