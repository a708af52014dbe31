// For how long decisions have waited, and for what. Agreement says what it waits for at the moment, which is mostly
// over in a moment; operators are told once it has lasted.
#pragma once

#include <cstdint>

#include "replication/agreement/status.h"

namespace ingot::inline replication_replica {

// Pure: nanoseconds are those of the replica's clock. Not thread-safe.
class StallWatch {
 public:
  explicit StallWatch(std::uint64_t blocked_after_ns) : blocked_after_ns_(blocked_after_ns) {}

  // `progress`: another number than the last time if anything was decided in between. Completes the status: it is
  // blocked if it waits without progress for blocked_after_ns; a wait that changes its cause meanwhile is one wait, and
  // what a replica decides while it catches up, before it can lead, or while it takes over, is no progress.
  // What an operator sees does not flicker: another cause is shown once it has lasted as long itself, unless agreement
  // knows that waiting cannot help.
  void observe(AgreementStatus& status, std::uint64_t progress, std::uint64_t now_ns);

  // observe() is to be called again when time has passed: what it waits for has not lasted for long enough yet.
  bool pending() const { return waits_ && (!blocked_ || next_ != shown_); }

  // Since when nothing was decided; 0: not blocked.
  std::uint64_t blocked_since_ns() const { return blocked_ ? since_ns_ : 0; }

 private:
  struct Cause {
    Blocked why = Blocked::kNo;
    ReplicaSet by;
    bool operator==(const Cause&) const = default;
  };
  void show_lasting_cause(AgreementStatus& status, std::uint64_t now_ns);

  const std::uint64_t blocked_after_ns_;
  std::uint64_t progress_ = 0;
  bool waits_ = false;
  std::uint64_t since_ns_ = 0;  // valid if it waits
  bool blocked_ = false;
  Cause shown_;  // valid if blocked
  Cause next_;   // differs from shown_ since next_since_ns_, or is none
  std::uint64_t next_since_ns_ = 0;
};

}  // namespace ingot::replication_replica
