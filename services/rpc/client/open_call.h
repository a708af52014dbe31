// A call that has not ended, as channel, connection and session know it. Internal to services/rpc/client.
#pragma once

#include <grpcpp/support/status.h>

#include <cstdint>
#include <string>

#include "services/rpc/client/answer.h"
#include "services/rpc/client/receiver.h"

namespace ingot::rpc::client {

class Connection;

inline constexpr std::uint64_t kNoDeadline = ~std::uint64_t{0};

// Its address stays the same, and its memory is reused by the next call.
struct OpenCall {
  std::uint32_t index = 0;                  // in the channel's list
  std::uint32_t generation = 0;             // of its use; odd while it is open
  Receiver* receiver = nullptr;             // null: the call was cancelled, and its end is not told
  bool waits = false;                       // for a connection, however many attempts fail
  std::uint64_t deadline_ns = kNoDeadline;  // monotonic

  std::string path;
  std::string timeout;           // of grpc-timeout; empty: none
  std::string request;           // prefix and message
  std::size_t request_sent = 0;  // bytes of it

  Connection* connection = nullptr;  // null: it waits for one, or has ended
  std::int32_t stream = 0;           // on it
  Answer answer;
  grpc::Status status;  // once it has ended
};

}  // namespace ingot::rpc::client
