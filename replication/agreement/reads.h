// Linearizable reads at a leader: one question to those who would know of a newer leader serves all reads that wait.
#pragma once

#include <cstdint>
#include <vector>

#include "core/replica_set.h"
#include "replication/agreement/agreement.h"

namespace ingot {

// A probe serves the reads that were waiting when it left, never one that came later: only the former know that what
// was acknowledged before they began lies below the probe's mark. Later ones wait for the next probe; at most
// kPendingReadsMax wait, more are rejected as busy. Not thread-safe.
class ReadProbes {
 public:
  void add(std::uint64_t read_id, EndpointId leader, Effects& effects);

  // True if reads wait and no probe is under way.
  bool wants_probe() const { return !under_way() && !waiting_.empty(); }
  // A probe leaves now; slots below `mark` were proposed so far. Returns its number, never used before.
  std::uint64_t start(Slot read_index);

  bool under_way() const { return !served_.empty(); }
  std::uint64_t number() const { return number_; }  // of the last probe started
  ReplicaSet votes;  // replicas that confirmed the probe under way, if the protocol needs several

  // The probe under way is confirmed.
  void confirm(Effects& effects);
  // This replica no longer leads.
  void reject_all(EndpointId leader, Effects& effects);

 private:
  std::uint64_t number_ = 0;
  Slot read_index_;
  std::vector<std::uint64_t> served_;   // by the probe under way
  std::vector<std::uint64_t> waiting_;  // for the next
};

}  // namespace ingot
