// Accepts the connections of one listening socket.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "services/access/caller.h"
#include "services/rpc/server/shared.h"
#include "services/rpc/server/timers.h"
#include "transport/host/descriptor.h"

namespace ingot::rpc {

// Not thread-safe. A wait that has not ended keeps it alive.
class Listener final : public std::enable_shared_from_this<Listener> {
 public:
  // `room` is asked before each connection: false delays it, until resume() or some time has passed. `accepted` takes
  // it. Neither is called after close().
  struct Host {
    std::function<bool()> room;
    std::function<void(Descriptor, Caller)> accepted;
  };

  Listener(boost::asio::io_context& io, Descriptor socket, Caller::Door door, Shared& shared, Host host);

  void start();
  // A descriptor or room may be free again.
  void resume();
  void close();

 private:
  void wait();
  void accept();
  void delay();

  boost::asio::posix::stream_descriptor socket_;
  const Caller::Door door_;
  Shared& shared_;
  const Host host_;
  Timer retry_;
  bool waiting_ = false;
  bool closed_ = false;
};

}  // namespace ingot::rpc
