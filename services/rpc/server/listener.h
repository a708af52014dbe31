// Accepts the connections of one listening socket.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <functional>
#include <memory>

#include "services/access/caller.h"
#include "services/rpc/server/shared.h"
#include "services/rpc/server/timers.h"
#include "transport/host/descriptor.h"

namespace ingot::rpc::inline server {

// Not thread-safe. A wait that has not ended keeps it alive.
class Listener final : public std::enable_shared_from_this<Listener> {
 public:
  // `room` is asked before each connection is accepted; false delays it until resume() or for some time. `accepted`
  // takes it. Neither is called after close().
  struct Host {
    std::function<bool()> room;
    std::function<void(Descriptor, Caller)> accepted;
  };

  Listener(boost::asio::io_context& io, Descriptor socket, Caller::Door door, Shared& shared, Host host);

  void start();
  // Takes up to kAcceptsPerRound connections, if some may wait; called once in a round. Returns how many it took.
  int accept();
  // Whether accept() may take some.
  bool ready() const { return ready_; }
  // Another connection may be accepted again.
  void resume();
  void close();

 private:
  enum class Step : std::uint8_t { kTaken, kLost, kAllHere, kNoRoom };

  void wait();
  Step accept_one();

  boost::asio::posix::stream_descriptor socket_;
  const Caller::Door door_;
  Shared& shared_;
  const Host host_;
  Timer retry_;
  bool waiting_ = false;
  bool ready_ = false;  // connections may wait, and may be taken
  bool closed_ = false;
};

}  // namespace ingot::rpc::server
