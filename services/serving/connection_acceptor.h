// Accepts the connections of clients on sockets that listen already, which the supervisor has made.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/status/statusor.h"
#include "services/access/caller.h"
#include "transport/host/descriptor.h"
#include "transport/host/doorbell.h"

namespace ingot {

// Sockets that listen, non-blocking. Either may be invalid: there is none.
struct ListeningSockets {
  Descriptor tcp;
  Descriptor local;  // the Unix socket
};

// Accepts on a thread of its own. Out of descriptors or memory it waits for kAcceptPauseMs, and goes on. A socket that
// was shut down is closed.
class ConnectionAcceptor {
 public:
  // A connection that was accepted, non-blocking. Called by the acceptor's thread.
  using Take = std::function<void(Descriptor connection, const Caller& caller)>;

  // Errors: RESOURCE_EXHAUSTED.
  static absl::StatusOr<std::unique_ptr<ConnectionAcceptor>> start(ListeningSockets sockets, Take take);
  // No call of `take` follows.
  ~ConnectionAcceptor();

  // The Unix socket has been bound anew. Any thread.
  void replace_local(Descriptor local);

 private:
  ConnectionAcceptor(ListeningSockets sockets, Take take, Doorbell bell);
  void run();
  bool wait(bool paused);
  bool accept_all(Descriptor& listener, Caller::Door door);

  const Take take_;
  Doorbell bell_;  // rung for the members below
  std::mutex mutex_;
  bool stopping_ = false;     // guarded by mutex_
  Descriptor new_local_;      // likewise; invalid: none
  ListeningSockets sockets_;  // the thread's
  std::thread thread_;
};

}  // namespace ingot
