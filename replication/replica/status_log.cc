#include "replication/replica/status_log.h"

#include <utility>

namespace ingot::inline replication_replica {

namespace {
constexpr std::uint64_t kNsPerMs = 1'000'000;

std::string number(EndpointId replica) { return std::to_string(replica.value()); }
}  // namespace

StatusLog::StatusLog(EndpointId self, std::function<void(const std::string&)> log)
    : self_(self), log_(std::move(log)) {}

void StatusLog::log(const std::string& what) const {
  if (log_) log_("replica " + number(self_) + " " + what);
}

void StatusLog::observe(const AgreementStatus& status, std::uint64_t now_ns) {
  if (!status.blocked) {
    if (!std::exchange(blocked_, false)) return;
    return log("is no longer blocked, after " + std::to_string((now_ns - blocked_since_ns_) / kNsPerMs) + " ms");
  }
  if (blocked_ && why_ == status.why && by_ == status.blocked_by) return;
  if (!std::exchange(blocked_, true)) blocked_since_ns_ = now_ns;
  why_ = status.why;
  by_ = status.blocked_by;
  if (log_) log_(blocked_sentence(self_, status));
}

void StatusLog::suspected(EndpointId replica) {
  log("suspects replica " + number(replica) + ", which takes too long to answer");
}

void StatusLog::fenced(ReplicaIncarnation name, bool killed) {
  const std::string whom = "replica " + number(name.id) + ", incarnation " + std::to_string(name.incarnation.value());
  log(killed ? "fences " + whom + ": it does not answer, and what it holds is needed; it was sent SIGKILL"
             : "wants " + whom + " fenced, which does not run any more");
}

}  // namespace ingot::replication_replica
