#include "replication/replica/status_log.h"

#include <utility>

namespace ingot {

namespace {
constexpr std::uint64_t kNsPerMs = 1'000'000;

std::string number(EndpointId replica) { return std::to_string(replica.value()); }
}  // namespace

StatusLog::StatusLog(EndpointId self, std::function<void(const std::string&)> say)
    : self_(self), say_(std::move(say)) {}

void StatusLog::say(const std::string& what) const {
  if (say_) say_("replica " + number(self_) + " " + what);
}

void StatusLog::look(const AgreementStatus& status, std::uint64_t now_ns) {
  if (!status.blocked) {
    if (!std::exchange(blocked_, false)) return;
    return say("is no longer blocked, after " + std::to_string((now_ns - blocked_since_ns_) / kNsPerMs) + " ms");
  }
  if (blocked_ && why_ == status.why && by_ == status.blocked_by) return;
  if (!std::exchange(blocked_, true)) blocked_since_ns_ = now_ns;
  cause_since_ns_ = now_ns;
  why_ = status.why;
  by_ = status.blocked_by;
  if (say_) say_(blocked_sentence(self_, status));
}

void StatusLog::suspected(EndpointId replica) {
  say("suspects replica " + number(replica) + ", which takes too long to answer");
}

void StatusLog::fenced(ReplicaName name, bool killed) {
  const std::string whom = "replica " + number(name.id) + ", life " + std::to_string(name.incarnation.value());
  say(killed ? "fences " + whom + ": it does not answer, and what it holds is needed; it was sent SIGKILL"
             : "wants " + whom + " fenced, which does not run any more");
}

}  // namespace ingot
