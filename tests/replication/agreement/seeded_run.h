// What every seeded run of a whole group does, whatever befalls it: messages go on, replicas apply and answer reads, and
// checkers watch. Which faults there are, and when, is for those that build on this.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/prng.h"
#include "tests/replication/agreement/checkers.h"
#include "tests/replication/agreement/group.h"

namespace ingot::testing {

class SeededRun {
 protected:
  SeededRun(const Prng& prng, const GroupOptions& options);

  static std::size_t index(int replica) { return static_cast<std::size_t>(replica); }
  int any_replica() { return static_cast<int>(prng_.below(static_cast<std::uint64_t>(group_.replicas()))); }
  bool runs(int replica) const { return group_.alive(replica) && paused_steps_[index(replica)] == 0; }
  void pauses_go_on();

  // What every run watches of a replica's effects.
  void watch(int replica, const Effects& effects);

  void tick(int replica);
  // One message, if there is one and its receiver runs.
  void deliver(int from, int to);
  // Some of what it has decided; all of it once the faults have stopped.
  void apply(int replica);
  // What it has applied without the no-ops at the end, which nobody can see.
  Slot visible(int replica) const;
  void answer_reads(int replica);
  // It crashes: who asked it is told nothing.
  void forget_reads(int replica);
  // False: it has applied more than that.
  bool install(int replica, Slot first_undecided);

  Prng prng_;
  Group group_;
  OrderChecker order_;
  ReadChecker reads_;
  std::vector<int> paused_steps_;                     // by replica
  std::vector<std::map<std::uint64_t, Slot>> ready_;  // by replica: reads, and what must be applied for them
  std::uint64_t answered_reads_ = 0;
  std::uint64_t next_id_ = 1;  // as Group numbers proposals and reads
  bool calm_ = false;          // the faults have stopped

 private:
  const bool one_answers_;  // in 2PC the coordinator alone does
};

}  // namespace ingot::testing
