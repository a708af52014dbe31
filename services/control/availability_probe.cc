#include "services/control/availability_probe.h"

#include <algorithm>
#include <utility>

#include "replication/store/api.h"

namespace ingot::inline services_control {

namespace {
constexpr std::chrono::milliseconds kPause{5};  // after a write that was not accepted
}

AvailabilityProbe::AvailabilityProbe(ReplicaClient& client, std::function<bool()> over,
                                     std::function<void(const Outage&)> done)
    : client_(client), over_(std::move(over)), done_(std::move(done)) {}

void AvailabilityProbe::start() {
  committed_at_ = Clock::now();
  write();
}

void AvailabilityProbe::write() {
  if (cancelled_) return;
  const bool last = over_();
  client_.submit(RequestKind::kCommand, kv::encode(kv::Request(kv::TxnRequest{})),
                 [self = shared_from_this(), last](const ReplicaReply& reply) { self->answered(reply, last); });
}

// A client may answer "overloaded" from within submit(); the pause keeps that from recursing.
void AvailabilityProbe::answered(const ReplicaReply& reply, bool last) {
  if (reply.outcome != ReplicaReply::Outcome::kOk) {
    // A weak reference: the alarm keeps its callback as long as it lives.
    pause_.Set(std::chrono::system_clock::now() + kPause, [self = weak_from_this()](bool) {
      if (const auto probe = self.lock()) probe->write();
    });
    return;
  }
  const Clock::time_point now = Clock::now();
  outage_.gap = std::max(outage_.gap, now - committed_at_);
  committed_at_ = now;
  ++outage_.writes;
  if (last) return done_(outage_);
  write();
}

}  // namespace ingot::services_control
