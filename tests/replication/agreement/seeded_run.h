// The part of a seeded run that is common to all faults: messages are delivered, replicas apply and answer reads, and
// checkers watch. Derived classes decide which faults happen, and when.
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

  // Passes a replica's effects to the checkers.
  void watch(int replica, const Effects& effects);

  void tick(int replica);
  // Grants takeovers some bytes of room in the replica's segment, or none; as many as they need once the faults have
  // stopped.
  void grant_room(int replica);
  // Delivers one message, if there is one and its receiver runs.
  void deliver(int from, int to);
  // Applies some decided slots; all of them once the faults have stopped.
  void apply(int replica);
  // The slot below which the replica has applied, less the no-ops at its end, which no read can see.
  Slot visible(int replica) const;
  void answer_reads(int replica);
  // Drops the replica's reads, which get no answer since it crashes.
  void forget_reads(int replica);
  // False: the replica has applied more than that.
  bool install(int replica, Slot first_undecided);

  Prng prng_;
  Group group_;
  OrderChecker order_;
  ReadChecker reads_;
  std::vector<int> paused_steps_;                     // by replica
  std::vector<std::map<std::uint64_t, Slot>> ready_;  // by replica: reads, and the slots that each needs applied
  std::uint64_t answered_reads_ = 0;
  std::uint64_t next_id_ = 1;  // the number that Group gives the next proposal or read
  bool calm_ = false;          // the faults have stopped

 private:
  const bool one_answers_;  // true in 2PC: the coordinator alone answers
};

}  // namespace ingot::testing
