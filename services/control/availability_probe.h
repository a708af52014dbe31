// Measures from outside how long an instance commits nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

#include <grpcpp/alarm.h>

#include "replication/client/replica_client.h"

namespace ingot::inline services_control {

// Sends one write after the other, each an empty transaction: agreed on, applied in one slot, and without effect. Ends
// with the first commit of a write that began after `over` returned true; `over` tells whether the fault has taken
// effect. Thread-safe.
class AvailabilityProbe : public std::enable_shared_from_this<AvailabilityProbe> {
 public:
  using Clock = std::chrono::steady_clock;
  struct Outage {
    Clock::duration gap{};  // the longest time without a commit, from the start on
    unsigned writes = 0;    // committed
  };

  // `done` is called once, from the client's loop or from a gRPC thread, or not at all once the probe is cancelled or
  // released. `client` must outlive the probe and its write in flight.
  AvailabilityProbe(ReplicaClient& client, std::function<bool()> over, std::function<void(const Outage&)> done);

  // Sends the first write; the outage is measured from now on.
  void start();
  // Stops new writes; the write in flight may still call `done`.
  void cancel() { cancelled_ = true; }

 private:
  void write();
  void answered(const ReplicaReply& reply, bool last);

  ReplicaClient& client_;
  const std::function<bool()> over_;
  const std::function<void(const Outage&)> done_;
  std::atomic<bool> cancelled_{false};
  // Written by the callback of the write in flight, so by one thread at a time.
  Clock::time_point committed_at_;
  Outage outage_;
  grpc::Alarm pause_;
};

}  // namespace ingot::services_control
