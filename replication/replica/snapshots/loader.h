// Reads a snapshot while its replica's loop goes on: a thread decodes it, and the loop then only installs it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>

#include "absl/status/statusor.h"
#include "replication/replica/applier.h"
#include "replication/replica/snapshots/format.h"

namespace ingot::inline replication_replica_snapshots {

// One snapshot at a time. Used by its replica's loop only.
class SnapshotLoader {
 public:
  // kInline: start() itself decodes, and the loop waits meanwhile. kFirstInline: so it does with the first snapshot.
  enum class How { kBackground, kInline, kFirstInline };

  // REQUIRES: `applier`, and its state machine, outlive this.
  // `cores`: where the thread runs (core/planning/helper_cores.h).
  SnapshotLoader(How how, Applier& applier, std::vector<CoreId> cores = {})
      : how_(how), applier_(applier), cores_(std::move(cores)) {}
  // Waits until a decoding in progress has ended.
  ~SnapshotLoader();
  SnapshotLoader(const SnapshotLoader&) = delete;
  SnapshotLoader& operator=(const SnapshotLoader&) = delete;

  // Releases the file's memory as soon as it is decoded. REQUIRES: !running().
  void start(SnapshotBytes snapshot);

  // True from start() until poll() has returned the outcome.
  bool running() const { return running_; }

  using Outcome = absl::StatusOr<Applier::Decoded>;
  // What start() does with the file; on any thread. Errors as for poll().
  static Outcome decode(Applier& applier, std::string_view file);

  // Nothing while the file is being decoded. REQUIRES: running(). Errors: INVALID_ARGUMENT (not a snapshot).
  std::optional<Outcome> poll();

 private:
  void run_in_background();
  void run();

  How how_;  // of the next start
  Applier& applier_;
  const std::vector<CoreId> cores_;
  bool running_ = false;
  std::thread thread_;
  // Used by the thread until it sets decoded_, then by the loop.
  SnapshotBytes snapshot_;
  std::optional<Outcome> outcome_;
  std::atomic<bool> decoded_{false};
};

}  // namespace ingot::replication_replica_snapshots
