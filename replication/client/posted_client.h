// A ReplicaClient for all threads, in front of one that belongs to a loop.
#pragma once

#include <string>
#include <utility>

#include "replication/client/replica_client.h"
#include "transport/host/loop_tasks.h"

namespace ingot::inline replication_client {

// Thread-safe. Requests are handed over to the loop, which calls the callbacks. For requests that are rare: each costs
// two changes of threads.
class PostedClient final : public ReplicaClient {
 public:
  // Both outlive this. `client` is used by the thread that runs `loop` only.
  PostedClient(LoopTasks& loop, ReplicaClient& client) : loop_(loop), client_(client) {}

  void submit(RequestKind kind, std::string payload, Callback callback, EndpointId replica = kAnyReplica) override {
    loop_.post([this, kind, payload = std::move(payload), callback = std::move(callback), replica]() mutable {
      client_.submit(kind, std::move(payload), std::move(callback), replica);
    });
  }

 private:
  LoopTasks& loop_;
  ReplicaClient& client_;
};

}  // namespace ingot::replication_client
