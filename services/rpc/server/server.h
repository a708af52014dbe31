// gRPC over HTTP/2 on one loop: connections, their calls, and the bounds that keep one client from harming another.
//
// A server does no work by itself. It is a Pollable of the loop's thread, with a flush at the end of each round:
//
//     poll()   takes what the sockets have (one read for each readable connection), begins calls, round-robin
//     ...      the loop's other pollables run; handlers answer by Call::send and Call::finish
//     flush()  one write for each connection with output
//
// Why it is so: docs/design/front-door.md. Which request gets which answer: docs/http2.md.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "services/access/caller.h"
#include "services/rpc/server/bounds.h"
#include "services/rpc/server/counters.h"
#include "services/rpc/server/http1.h"
#include "services/rpc/server/methods.h"
#include "transport/host/descriptor.h"
#include "transport/host/event_loop.h"
#include "transport/pollable.h"

namespace ingot::rpc::inline server {

// Not thread-safe: made, polled and destroyed by the loop's thread, which also runs `io`. Calls that are open when it
// is destroyed are lost; no Call may be used afterwards.
class Server final : public Pollable {
 public:
  struct Options {
    const Methods* methods = nullptr;  // outlive the server
    Http1Answers http1{};
    ServerBounds bounds{};
    ServerCounters* counters = nullptr;  // null: not counted
    // What poll() is given, between rounds: connections that come then have their time from then on.
    std::function<std::uint64_t()> now_ns = monotonic_ns;
  };

  Server(boost::asio::io_context& io, Options options);
  ~Server() override;

  // Accepts connections of a non-blocking listening socket, which other loops and processes may share. Errors:
  // INVALID_ARGUMENT (not a listening socket).
  absl::Status listen(Descriptor listening_socket, Caller::Door door);

  // Serves a connection that is there already, such as one end of a socket pair.
  void adopt(Descriptor connection, Caller caller);

  int poll(std::uint64_t now_ns) override;
  bool readable() override;
  std::uint64_t deadline_ns() const override;

  // One write for each connection with output; called once at the end of a round (EventLoop::at_round_end). Answers of
  // one connection are gathered until then.
  void flush();

  // Another part of this loop has freed so many bytes of the heap. When enough is freed, the server gives it back to
  // the kernel.
  void count_freed(std::size_t bytes);

  // Stops listening, tells all clients to go elsewhere (GOAWAY, in two steps) and refuses new calls (REFUSED_STREAM,
  // which clients retry). Open calls may finish; a client that takes nothing of what waits for it (kStalledEndMs) is
  // disconnected. Idempotent.
  void drain();
  bool drained() const;  // no call is open or waits to begin, and all output has left

  // Stops listening and closes all connections. Calls that were open are lost, and using them does nothing, as long as
  // the server is there. Idempotent; not within one of its handlers.
  void end();

  std::size_t connections() const;
  std::size_t open_calls() const;
  // Kept for clients: heads of open calls, requests until a handler has them, and answers until a socket has them.
  std::size_t held_bytes() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace ingot::rpc::server
