// Linearizable reads at a leader: one probe for a newer leader serves all reads that wait.
#pragma once

#include <cstdint>
#include <vector>

#include "core/replica_set.h"
#include "replication/agreement/agreement.h"

namespace ingot::inline replication_agreement {

// A probe serves the reads that were waiting when it left, never a later one: only for those does every write that was
// acknowledged before they began lie below the probe's read index. Later reads wait for the next probe. At most
// kPendingReadsMax reads wait; more are rejected as busy. Not thread-safe.
class ReadProbes {
 public:
  void add(std::uint64_t read_id, EndpointId leader, Effects& effects);

  // True if reads wait and no probe is outstanding.
  bool wants_probe() const { return !under_way() && !waiting_.empty(); }
  // A probe leaves now; slots below `read_index` have been proposed so far. Returns the probe's number, never used
  // before.
  std::uint64_t start(Slot read_index);

  bool under_way() const { return !served_.empty(); }
  std::uint64_t number() const { return number_; }  // of the last probe started
  ReplicaSet votes;  // replicas that confirmed the outstanding probe, in protocols that need several

  // The outstanding probe is confirmed.
  void confirm(Effects& effects);
  // This replica no longer leads.
  void reject_all(EndpointId leader, Effects& effects);

 private:
  std::uint64_t number_ = 0;
  Slot read_index_;
  std::vector<std::uint64_t> served_;   // by the outstanding probe
  std::vector<std::uint64_t> waiting_;  // for the next
};

}  // namespace ingot::replication_agreement
