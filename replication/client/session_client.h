// ReplicaClient over a transport: a session of one loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "replication/client/replica_client.h"
#include "replication/client/session_endpoint.h"
#include "transport/host/event_loop.h"
#include "transport/pollable.h"

namespace ingot::inline replication_client {

// Used by the loop's thread only, callbacks included; other threads submit through a PostedClient. Requests are written
// into the leader's inbox when they are submitted. poll(), which the loop calls once a round after everything that
// submits, wakes the receivers of the whole round at once, and calls the callbacks. So all requests of a round reach
// the leader together.
//
// At most SessionBounds::requests and bytes are in flight. Further requests are answered kOverloaded, or kBlocked while
// a replica's page shows that agreement is blocked.
class SessionClient : public ReplicaClient, public Pollable {
 public:
  struct Options : SessionEndpoint::Options {
    std::function<std::uint64_t()> now_ns = monotonic_ns;  // the clock that poll is called with
  };

  // REQUIRES: `transport` outlives this, and this is its only user.
  SessionClient(Transport& transport, Options options);

  // As SessionEndpoint::begin_incarnation; not to be called by a callback.
  void begin_incarnation(PeerIncarnation announced);

  void submit(RequestKind kind, std::string payload, Callback callback, EndpointId replica = kAnyReplica) override;

  int poll(std::uint64_t now_ns) override;
  bool readable() override { return submitted_ || endpoint_.readable(); }
  std::uint64_t deadline_ns() const override { return endpoint_.deadline_ns(); }

  // The kernel says that this incarnation of the replica has ended. Not to be called by a callback.
  void replica_died(EndpointId replica, Incarnation incarnation);

  // Requests that have no answer yet.
  std::size_t in_flight() const { return endpoint_.in_flight(); }

 private:
  const std::function<std::uint64_t()> now_ns_;
  SessionEndpoint endpoint_;
  bool submitted_ = false;  // since the transport was flushed
  std::vector<SessionCore::Answer> answers_;
};

}  // namespace ingot::replication_client
