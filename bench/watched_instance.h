// Reads the pages of a running daemon from outside, without a request to any process. Maps the supervisor's descriptors
// read-only; needs the daemon's user id.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/types.h"
#include "replication/pages/pages.h"
#include "transport/host/segment.h"

namespace ingot::bench {

// The replicas that have the roles of a group.
struct Roles {
  int leader = -1;
  int acceptor = -1;
};

// Not thread-safe.
class WatchedInstance {
 public:
  // `supervisor`: pid of an ingotd with the name `name`. Errors: NOT_FOUND (it has ended, or is another process).
  static absl::StatusOr<WatchedInstance> attach(pid_t supervisor, const std::string& name, int replicas);

  int replicas() const { return static_cast<int>(pages_.size()); }
  pid_t pid(int replica) const { return static_cast<pid_t>(daemon_->replicas[replica].pid.get()); }
  ProcessState state(int replica) const { return static_cast<ProcessState>(daemon_->replicas[replica].state.get()); }
  std::uint64_t counter(int replica, ReplicaCounter id) const { return (*pages_[replica])[id].get_acquire(); }
  std::uint64_t greatest(ReplicaCounter id) const;
  // Deaths that the supervisor has reported.
  std::uint64_t deaths() const { return daemon_->deaths.get(); }
  // Stops that the kernel has reported to it and that are a reason to doubt.
  std::uint64_t doubted_stops() const { return daemon_->doubted_stops.get(); }
  // The supervisor keeps a snapshot of the state before this slot.
  std::uint64_t published_slot() const { return daemon_->published_slot.get_acquire(); }

  bool all_up() const;

  // Returns the leader and the acceptor if all replicas are up, have applied all but `lag_slots` of the others' slots,
  // and name the same two; -1 and -1 otherwise.
  Roles settled(std::uint64_t lag_slots) const;

  // True once the kernel has marked the writer of the segment that the replica had at attachment as dead.
  bool marked_dead(int replica) const;

 private:
  WatchedInstance() = default;

  std::vector<Segment> segments_;  // owns the mappings
  const DaemonPage* daemon_ = nullptr;
  std::vector<const ReplicaPage*> pages_;                   // by replica
  std::vector<std::span<const std::byte>> stable_segments_;  // by replica, of its newest incarnation
};

}  // namespace ingot::bench
