// When the trees should change: an inner endpoint is dead, stopped or slow; a by-passed one is well again; somebody
// else leads; costs have drifted. With hysteresis, so that nothing goes to and fro.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/replica_set.h"
#include "replication/replica/trees/costs.h"
#include "replication/replica/trees/plan.h"
#include "replication/replica/trees/set.h"

namespace ingot {

// What one replica shows of itself at one moment.
struct ReplicaSample {
  enum class State : std::uint8_t { kRunning, kStopped, kDead };  // as far as is known
  State state = State::kRunning;
  std::uint64_t applied = 0;  // slots below it are applied there
  CostTotals costs;
};

// Used by the leader's replica: everybody's pages in, wishes for other trees out. Pure: time is the number of looks,
// one each kTreeCheckNs while there is work. What it remembers is lost when another replica leads, and begins anew there.
//
// Behind: has not applied what somebody had applied one look before. Of those behind, the inner endpoint to blame is
// the one whose parent is not behind: those below it can only have what it passes on.
//
// Bounded oscillation: each by-pass doubles the time that its endpoint must be well before it returns, up to
// kReturnChecksMax looks; and a leader wishes at most once in kChangeChecks looks.
//
// Not thread-safe.
class TreeMonitor {
 public:
  explicit TreeMonitor(int replicas);

  struct Wish {
    TreeReason reason;
    TreeConditions conditions;
  };

  // One look. `root`: whose broadcasts everybody waits for, the acceptor or the leader. `leader`: this replica.
  // REQUIRES: samples by replica, all of them.
  std::optional<Wish> check(const TreeSet& trees, int root, int leader, std::span<const ReplicaSample> samples);

  // An endpoint is known to be dead, whatever its samples say, until they show progress.
  void died(int replica) { known_dead_.insert(replica); }

  // True while something may be due without further progress: a look is wanted even if nothing is decided.
  bool wants_check() const { return suspects_; }

  // Who runs and lacks what somebody had applied one look before, though nobody has applied anything since: what they
  // lack may be lost, and in this silence nothing will tell them.
  ReplicaSet stranded() const { return stranded_; }

  // Another replica leads: no look is wanted here.
  void rest() { suspects_ = false; }

 private:
  struct Endpoint {
    std::uint64_t applied = 0;  // at the last look
    int stopped_checks = 0;      // in a row
    int slow_checks = 0;
    int well_checks = 0;         // while by-passed
    int steady_checks = 0;       // while in the tree
    int return_checks = 0;       // that it will need to return; 0: never by-passed, or forgiven
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
  ReplicaSet behind_;          // at the last look
  ReplicaSet dead_;            // likewise
  ReplicaSet stranded_;        // likewise
  std::uint64_t bar_ = 0;       // the most that anybody had applied at the look before
  std::uint64_t most_ = 0;      // and at the last look
  bool progress_ = false;       // between these two
  int leader_ = 0;
  int checks_since_wish_ = 0;
  int window_checks_ = 0;
  bool suspects_ = false;
};

}  // namespace ingot
