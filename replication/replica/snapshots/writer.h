// Makes a snapshot of a replica while its loop goes on: a forked child writes it from its copy of the memory, which the
// loop does not change.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replication/replica/applier.h"
#include "replication/replica/snapshots/format.h"
#include "transport/host/descriptor.h"
#include "transport/host/segment.h"

namespace ingot::inline replication_replica_snapshots {

// A snapshot's file in sealed memory: no process can change it, its writer included.
struct PublishedSnapshot {
  SnapshotName name;
  Descriptor fd;
  Segment memory;

  // Takes a descriptor, which another process may have made. Errors: INVALID_ARGUMENT (not sealed, or not a snapshot),
  // others as Segment::map.
  static absl::StatusOr<std::shared_ptr<const PublishedSnapshot>> open(Descriptor fd);
};

// Writes a snapshot of the slots below `slot` to an empty file of memory, part by part, and seals it against every
// change. `save` gives a sink what Applier::save writes. False: there is no memory.
bool write_snapshot_file(int fd, Slot slot, absl::FunctionRef<void(StateMachine::Sink)> save);

// One snapshot at a time. Used by its replica's loop only.
class SnapshotWriter {
 public:
  // kInline: start() itself writes, and the loop waits meanwhile. For processes of several threads.
  enum class How { kFork, kInline };

  // `cores`: where the child runs (core/planning/helper_cores.h).
  explicit SnapshotWriter(How how, std::vector<CoreId> cores = {}) : how_(how), cores_(std::move(cores)) {}
  // Kills a child that is still writing.
  ~SnapshotWriter();
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  // Begins a snapshot of the state that is applied now. REQUIRES: !running(). Errors: RESOURCE_EXHAUSTED (no memory,
  // process or descriptor).
  absl::Status start(const Applier& applier);

  bool running() const { return running_; }

  // Nothing while the snapshot is being written. REQUIRES: running(). Errors: RESOURCE_EXHAUSTED, INTERNAL (the child
  // died).
  std::optional<absl::StatusOr<std::shared_ptr<const PublishedSnapshot>>> poll();

  // To be called at each tick. Kills a child that has used no processor time for kSnapshotStillTicks; poll() then
  // reports its death.
  void tick();

  // How long the last start() stopped the loop.
  std::uint64_t pause_ns() const { return pause_ns_; }

 private:
  absl::Status fork_child(const Applier& applier);

  const How how_;
  const std::vector<CoreId> cores_;
  bool running_ = false;
  ::pid_t child_ = -1;
  std::uint64_t child_cpu_ns_ = 0;  // as of the last tick
  int still_ticks_ = 0;             // since child_cpu_ns_ changed
  Descriptor fd_;
  std::uint64_t pause_ns_ = 0;
};

}  // namespace ingot::replication_replica_snapshots
