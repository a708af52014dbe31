// The core through which requests enter the chip and answers leave it. Its program is the front end's client: session,
// retries and timers, all in virtual time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "replication/client/replica_client.h"
#include "replication/pages/pages.h"
#include "services/scc/core_loop.h"
#include "services/scc/request_latency.h"
#include "transport/scc/chip_transport.h"

namespace ingot::inline services_scc {

// A request from outside; its answer has the same `id`.
struct ChipRequest {
  std::uint64_t id = 0;
  RequestKind kind = RequestKind::kCommand;
  EndpointId replica = ReplicaClient::kAnyReplica;
  std::string payload;
};

struct ChipReply {
  std::uint64_t id = 0;
  ReplicaReply::Outcome outcome = ReplicaReply::Outcome::kOk;
  Slot slot;
  std::string payload;
};

// Lives outside the chip: requests and answers are in no simulated memory. Used by the chip's thread only.
class Gateway {
 public:
  struct Options {
    int replicas = 3;
    std::uint64_t session = 1;
    std::uint64_t cycles_per_message = 0;
    const DaemonPage* daemon = nullptr;
  };
  explicit Gateway(const Options& options) : options_(options) {}

  // The program of its core.
  void run(const scc::ChipFabric& fabric, scc::Core& core);

  // Call it from the host's stack, and Chip::ring after it.
  void hand_in(ChipRequest request) { waiting_.push_back(std::move(request)); }
  std::vector<ChipReply> take_replies() { return std::exchange(replies_, {}); }
  const RequestLatencies& latencies() const { return latencies_; }  // of answered requests

 private:
  class Endpoint;

  const Options options_;
  std::deque<ChipRequest> waiting_;
  std::vector<ChipReply> replies_;
  RequestLatencies latencies_;
};

}  // namespace ingot::services_scc
