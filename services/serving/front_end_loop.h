// One loop of the front end with its endpoint: the way to the replicas.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "core/types.h"
#include "replication/client/session_client.h"
#include "replication/client/shown_slot.h"
#include "replication/pages/instance_view.h"
#include "services/instance/instance_memory.h"
#include "services/launch/launch_spec.h"
#include "services/serving/serving_loop.h"
#include "transport/channel_transport.h"
#include "transport/host/peer_incarnations.h"

namespace ingot::inline services_serving {

// Each loop has an endpoint, a session and incarnations of its peers of its own, so that loops share nothing but pages.
// Made and filled before the loop runs; then used by its thread, except for the functions that say otherwise.
class FrontEndLoop {
 public:
  // What the process has shown; at its start, all that its predecessors may have shown.
  static std::shared_ptr<ShownSlot> shown_before(const InstanceView& view);

  // The loop's endpoint is `index` behind the replicas. `shown` is that of all loops. All references outlive the loop.
  // Errors: RESOURCE_EXHAUSTED.
  static absl::StatusOr<std::unique_ptr<FrontEndLoop>> create(const LaunchSpec& spec, int index,
                                                              InstanceMemory& memory, const InstanceView& view,
                                                              std::shared_ptr<ShownSlot> shown);

  ServingLoop& serving() { return *serving_; }
  ReplicaClient& client() { return client_; }
  EventLoop& loop() { return serving_->loop(); }

  // To be called last before the loop runs, behind Serving::start: its round ends with the session's messages.
  void add_session() { loop().add(client_, memory_.fabric(), self_); }

  // As SessionClient's, soon. Any thread.
  void replica_died(EndpointId replica, Incarnation incarnation);
  // Maps the inbox; without memory for it the loop exchanges no messages with that incarnation. Any thread.
  void begin_incarnation(EndpointId replica, Incarnation incarnation, int inbox);

 private:
  FrontEndLoop(const LaunchSpec& spec, int index, InstanceMemory& memory, const InstanceView& view,
               std::shared_ptr<ShownSlot> shown, std::unique_ptr<ServingLoop> serving);

  InstanceMemory& memory_;
  const EndpointId self_;
  const std::unique_ptr<ServingLoop> serving_;
  const std::unique_ptr<ChannelTransport> transport_;
  PeerIncarnations incarnations_;
  SessionClient client_;
};

}  // namespace ingot::services_serving
