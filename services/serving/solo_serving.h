// Serving with a loop of its own, in front of a client of the replicas that answers on other threads.
#pragma once

#include <memory>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replication/client/loop_answers.h"
#include "replication/client/replica_client.h"
#include "services/serving/serving.h"
#include "services/serving/serving_loop.h"

namespace ingot::inline services_serving {

// For the simulated chip's daemon. Made, started and destroyed by one thread.
class SoloServing {
 public:
  // The arguments outlive the object; `client` is thread-safe. Errors: RESOURCE_EXHAUSTED.
  static absl::StatusOr<std::unique_ptr<SoloServing>> create(const DaemonConfig& config, const InstanceView& view,
                                                             ReplicaClient& client, FaultInjector* injector = nullptr);
  // Drains, unless drain() was called.
  ~SoloServing();

  Serving& serving() { return *serving_; }

  // As Serving::start, and runs the loop. To be called once.
  absl::Status start(const ListeningSockets& sockets);
  // As Serving::drain; the loop has then ended. REQUIRES: start() has succeeded.
  void drain();

 private:
  SoloServing(std::unique_ptr<ServingLoop> loop, ReplicaClient& client);

  const std::unique_ptr<ServingLoop> loop_;
  LoopAnswers client_;
  std::unique_ptr<Serving> serving_;
  std::thread thread_;
};

}  // namespace ingot::services_serving
