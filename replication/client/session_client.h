// ReplicaClient over a transport: a session that any thread may use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "replication/client/replica_client.h"
#include "replication/client/session_endpoint.h"
#include "transport/host/event_loop.h"
#include "transport/pollable.h"

namespace ingot {

// submit() may be called from any thread and sends at once, under a mutex, so that a request needs no hop to the loop's
// thread; answers arrive in poll(), on the loop's thread, which runs the callbacks outside the mutex.
//
// At most SessionBounds::requests and bytes are in flight. Further requests are answered kOverloaded, or kBlocked while
// a replica's page shows that agreement is blocked.
class SessionClient : public ReplicaClient, public Pollable {
 public:
  struct Options : SessionEndpoint::Options {
    std::function<void()> wake_loop;  // makes the loop call poll soon; called on any thread
    std::function<std::uint64_t()> now_ns = monotonic_ns;  // the clock that poll is called with
  };

  // REQUIRES: `transport` outlives this, and this is its only user.
  SessionClient(Transport& transport, Options options);

  // As SessionEndpoint::begin_incarnation; to be called in the loop's thread.
  void begin_incarnation(PeerIncarnation announced);

  void submit(RequestKind kind, std::string payload, Callback callback, EndpointId replica) override;

  int poll(std::uint64_t now_ns) override;
  bool readable() override;
  std::uint64_t deadline_ns() const override;

  // The kernel says that this incarnation of the replica has ended. May be called on any thread.
  void replica_died(EndpointId replica, Incarnation incarnation);

  // Requests that have no answer yet.
  std::size_t in_flight() const;

 private:
  const std::function<void()> wake_loop_;
  const std::function<std::uint64_t()> now_ns_;
  mutable std::mutex mutex_;  // guards endpoint_; not Abseil's, which ThreadSanitizer does not see
  SessionEndpoint endpoint_;
  std::vector<SessionCore::Answer> answers_;  // loop thread only
};

}  // namespace ingot
