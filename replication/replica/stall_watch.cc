#include "replication/replica/stall_watch.h"

#include <utility>

#include "core/rule.h"

namespace ingot::inline replication_replica {

namespace {

// The slots that a replica learns before it can lead were decided long ago, and so were most of the slots that a new
// leader proposes again before it takes a command. So slots that come while it catches up do not count as decisions.
bool catches_up(const AgreementStatus& status) {
  const Blocked why = status.why;
  return status.taking_over || why == Blocked::kCatchingUp || why == Blocked::kNoMajority || why == Blocked::kLoading;
}

}  // namespace

void StallWatch::observe(AgreementStatus& status, std::uint64_t progress, std::uint64_t now_ns) {
  const bool moved = std::exchange(progress_, progress) != progress;
  const bool waited = std::exchange(waits_, status.why != Blocked::kNo);
  const bool decided = moved && !status.blocked && !catches_up(status);
  if (!waited || decided) since_ns_ = now_ns;
  const bool was_blocked = blocked_;
  const bool for_long = now_ns - since_ns_ >= blocked_after_ns_ && INGOT_RULE("long-waits-show");
  blocked_ = waits_ && (status.blocked || for_long);
  if (!blocked_) return;
  if (!was_blocked) shown_ = next_ = {};
  show_lasting_cause(status, now_ns);
  status.blocked = true;
  status.blocked_ms = (now_ns - since_ns_) / 1'000'000;
}

void StallWatch::show_lasting_cause(AgreementStatus& status, std::uint64_t now_ns) {
  const Cause cause{status.why, status.blocked_by};
  if (cause != next_) {
    next_ = cause;
    next_since_ns_ = now_ns;
  }
  const bool at_once = shown_.why == Blocked::kNo || (status.blocked && cause.why != shown_.why);
  if (at_once || now_ns - next_since_ns_ >= blocked_after_ns_) shown_ = cause;
  status.why = shown_.why;
  status.blocked_by = shown_.by;
}

}  // namespace ingot::replication_replica
