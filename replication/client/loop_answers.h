// A ReplicaClient of a loop, in front of one that answers on other threads.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "replication/client/replica_client.h"
#include "transport/host/loop_tasks.h"

namespace ingot::inline replication_client {

// Used by the loop's thread only, which also calls the callbacks: answers are handed over to it. Requests that are open
// when this object is destroyed are never answered.
class LoopAnswers final : public ReplicaClient {
 public:
  // `client` outlives this.
  LoopAnswers(std::shared_ptr<LoopTasks> loop, ReplicaClient& client) : loop_(std::move(loop)), client_(client) {}
  ~LoopAnswers() override { *alive_ = false; }

  void submit(RequestKind kind, std::string payload, Callback callback, EndpointId replica = kAnyReplica) override {
    const auto answered = [loop = loop_, alive = alive_, callback = std::move(callback)](const ReplicaReply& reply) {
      loop->post([alive, callback, outcome = reply.outcome, slot = reply.slot, payload = std::string(reply.payload)] {
        if (*alive) callback({outcome, slot, payload});
      });
    };
    client_.submit(kind, std::move(payload), answered, replica);
  }

 private:
  const std::shared_ptr<LoopTasks> loop_;  // the client may answer after the loop's end
  ReplicaClient& client_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // the loop's thread only
};

}  // namespace ingot::replication_client
