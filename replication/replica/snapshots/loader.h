// Reads a snapshot while its replica's loop goes on: a thread decodes it, and the loop has only to put it in place.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>

#include "absl/status/statusor.h"
#include "replication/replica/applier.h"
#include "replication/replica/snapshots/format.h"

namespace ingot {

// One snapshot at a time. Used by its replica's loop only.
class SnapshotLoader {
 public:
  // kInline: start() itself decodes, and the loop waits meanwhile.
  enum class How { kBackground, kInline };

  // REQUIRES: `applier`, and what it applies to, outlive this.
  // `cores`: where the thread runs (core/planning/helper_cores.h).
  SnapshotLoader(How how, Applier& applier, std::vector<CoreId> cores = {})
      : how_(how), applier_(applier), cores_(std::move(cores)) {}
  // Waits for the end of what is under way.
  ~SnapshotLoader();
  SnapshotLoader(const SnapshotLoader&) = delete;
  SnapshotLoader& operator=(const SnapshotLoader&) = delete;

  // The file's memory is let go as soon as it is decoded. REQUIRES: !running().
  void start(SnapshotBytes snapshot);

  // Begun, and poll() has not told the outcome.
  bool running() const { return running_; }

  using Outcome = absl::StatusOr<Applier::Decoded>;
  // What start() does with the file; on any thread. Errors as for poll().
  static Outcome decode(Applier& applier, std::string_view file);

  // Nothing while it is being decoded. REQUIRES: running(). Errors: INVALID_ARGUMENT (no snapshot).
  std::optional<Outcome> poll();

 private:
  void run_in_background();
  void run();

  const How how_;
  Applier& applier_;
  const std::vector<CoreId> cores_;
  bool running_ = false;
  std::thread thread_;
  // The thread's until decoded_, then the loop's.
  SnapshotBytes snapshot_;
  std::optional<Outcome> outcome_;
  std::atomic<bool> decoded_{false};
};

}  // namespace ingot
