// The pages of a running daemon, looked at from outside: what its replicas publish in shared memory, without asking
// anybody. Read-only mappings of the supervisor's descriptors; needs the daemon's user id.
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
  // `supervisor`: pid of ingotd, which has called itself `name`. Errors: NOT_FOUND (it is gone, or is another one).
  static absl::StatusOr<WatchedInstance> attach(pid_t supervisor, const std::string& name, int replicas);

  int replicas() const { return static_cast<int>(pages_.size()); }
  pid_t pid(int replica) const { return static_cast<pid_t>(daemon_->replicas[replica].pid.get()); }
  ProcessState state(int replica) const { return static_cast<ProcessState>(daemon_->replicas[replica].state.get()); }
  std::uint64_t counter(int replica, ReplicaCounter id) const { return (*pages_[replica])[id].get_acquire(); }
  std::uint64_t greatest(ReplicaCounter id) const;
  // Deaths that the supervisor has told of.
  std::uint64_t deaths() const { return daemon_->deaths.get(); }
  // Slots below it are in a snapshot that the supervisor keeps.
  std::uint64_t published_slot() const { return daemon_->published_slot.get_acquire(); }

  bool all_up() const;

  // Everybody is up, has applied what the others have, but for `lag_slots`, and names the same leader and acceptor.
  // Returns them; -1 and -1 otherwise.
  Roles settled(std::uint64_t lag_slots) const;

  // True once the kernel says that the writer of the replica's segment, as of the attachment, has died.
  bool marked_dead(int replica) const;

 private:
  WatchedInstance() = default;

  std::vector<Segment> segments_;  // owns the mappings
  const DaemonPage* daemon_ = nullptr;
  std::vector<const ReplicaPage*> pages_;                   // by replica
  std::vector<std::span<const std::byte>> stable_segments_;  // by replica, of its newest incarnation
};

}  // namespace ingot::bench
