// How long an instance commits nothing, measured from outside by writes of our own.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

#include <grpcpp/alarm.h>

#include "replication/client/replica_client.h"

namespace ingot {

// One write after the other, each an empty transaction: agreed on, applied in one slot, and without effect. Ends with the
// first commit of a write that was begun once `over` said that what was done to the group has happened. Thread-safe.
class AvailabilityProbe : public std::enable_shared_from_this<AvailabilityProbe> {
 public:
  using Clock = std::chrono::steady_clock;
  struct Outage {
    Clock::duration gap{};  // the longest time without a commit, from the start on
    unsigned writes = 0;    // committed
  };

  // `done` is called once, from the client's loop or a thread of gRPC's, or not at all once it is cancelled or let go of.
  // `client` outlives all that.
  AvailabilityProbe(ReplicaClient& client, std::function<bool()> over, std::function<void(const Outage&)> done);

  // The outage begins now.
  void start();
  // No write is begun any more; `done` may still be called by one under way.
  void cancel() { cancelled_ = true; }

 private:
  void write();
  void answered(const ReplicaReply& reply, bool last);

  ReplicaClient& client_;
  const std::function<bool()> over_;
  const std::function<void(const Outage&)> done_;
  std::atomic<bool> cancelled_{false};
  // By whoever has the write that is under way, so by one thread at a time.
  Clock::time_point committed_at_;
  Outage outage_;
  grpc::Alarm pause_;
};

}  // namespace ingot
