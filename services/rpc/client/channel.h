// gRPC's client side, for programs that drive load: unary calls to one server over HTTP/2 without TLS, on one
// Boost.Asio loop.
//
// A channel has one connection, which it opens when it is made and again, after a pause, whenever it was lost. Calls
// that start in one round of the loop leave in one write, and answers are taken in one read. It speaks to any gRPC
// server; nothing is sent twice, and nothing is compressed. It sends no pings: that a server's machine has vanished
// shows in its calls' deadlines only.
//
// How a call ends, beside the server's own status:
//
//   UNAVAILABLE         there was no connection, or it was lost, or the server refused the call when it said goodbye
//                       (GOAWAY); unless the server refused it the call may have been carried out
//   DEADLINE_EXCEEDED   its time was over; the server may carry it out even so
//   RESOURCE_EXHAUSTED  the answer is larger than allowed, or too many calls are open
//   INTERNAL, UNKNOWN   the answer is not as gRPC has it; other statuses by HTTP's status or the reset's code, as
//                       gRPC's documents map them
#pragma once

#include <google/protobuf/message_lite.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "services/rpc/client/limits.h"
#include "services/rpc/client/receiver.h"
#include "services/rpc/client/target.h"

namespace ingot::rpc::client {

struct ChannelOptions {
  std::size_t answer_bytes_max = kAnswerBytesMax;            // of one message
  std::uint64_t connection_calls_max = kConnectionCallsMax;  // then a new connection takes over, without a gap
};

// Names a call. A plain value.
struct CallId {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;  // 0: no call
};

// Not thread-safe: belongs to the thread that runs `io`, which outlives it. Runs only while `io` runs.
class Channel {
 public:
  // Begins to connect.
  Channel(boost::asio::io_context& io, Target target, ChannelOptions options = {});
  // Ends all calls; their receivers are not told.
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // A connection is up, and the server's settings have come.
  bool connected() const;

  struct CallOptions {
    std::chrono::nanoseconds timeout{};  // the server is told; 0: none
    // What a call does while there is no connection. When a connection is lost, the channel tries at once to open
    // another one, and calls always wait for that attempt. If it fails, a call ends with UNAVAILABLE; with this flag it
    // waits until its time is over.
    bool wait_for_connection = false;
  };
  // Starts a call of the method with this path ("/package.Service/Method"). The request is serialised before this
  // returns. `receiver` hears of the end exactly once, unless the call is cancelled.
  CallId start(const std::string& path, const google::protobuf::MessageLite& request, const CallOptions& options,
               Receiver& receiver);

  // Ends a call; its receiver is not told. Has no effect on a call that has ended.
  void cancel(CallId call);

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace ingot::rpc::client
