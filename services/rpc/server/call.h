// One call of a client, as its handler sees it.
#pragma once

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/status.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/access/caller.h"

namespace ingot::rpc::inline server {

class CallTable;
struct Stream;

// Names and values; the values of names that end with "-bin" are bytes, not base64.
using Metadata = std::vector<std::pair<std::string, std::string>>;

// Names a call as long as it is open; afterwards using it does nothing. A small value that is copied freely; it must
// not be used after its server is gone. Not thread-safe: the loop's thread only.
class Call {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  Call() = default;  // names no call
  Call(CallTable& table, std::uint32_t slot, std::uint32_t generation)
      : table_(&table), slot_(slot), generation_(generation) {}

  // False: finished, cancelled, its deadline is over, or its connection is lost.
  bool open() const;

  // REQUIRES: open(). What they return is valid until the call's end.
  const Caller& caller() const;
  std::string_view path() const;  // "/etcdserverpb.KV/Put"
  // Of a name in lower case that the client sent (the first value of several). Names of HTTP/2 and gRPC itself
  // (":path", "te", "content-type", "grpc-timeout", ...) are not metadata.
  std::optional<std::string_view> metadata(std::string_view name) const;
  Metadata all_metadata() const;
  // When the client stops waiting (CLOCK_MONOTONIC); kNever: it waits for ever. The server ends the call then.
  std::uint64_t deadline_ns() const;

  // Metadata before the first message. After that, and for names that HTTP/2 does not allow, it does nothing.
  void add_initial_metadata(std::string_view name, std::string_view value) const;
  // Metadata after the last message; likewise.
  void add_trailing_metadata(std::string_view name, std::string_view value) const;

  // One message of the answer. A unary call sends at most one. The bytes of a message are copied once. Pieces, which
  // together are one message, are not copied.
  void send(const google::protobuf::MessageLite& message) const;
  void send_bytes(std::string_view message) const;
  void send_pieces(std::vector<std::string> pieces) const;
  // Sends the initial metadata now, without a message.
  void send_initial_metadata() const;

  // The call is over; what was sent still reaches the client. A text above kStatusMessageBytesMax is cut off. On a
  // unary call that is over already, finish() tells the server that the handler's work has ended (Method::unary).
  void finish(const grpc::Status& status) const;

  // Asks wants_more() of the call's handler again.
  void resume() const;

  // Bytes that the handler has sent, with their prefixes, and that the connection's socket has not got yet, because the
  // client does not take them. 0 for a call that is not open.
  std::size_t pending_bytes() const;
  // Calls the handler's writable() once, when pending_bytes() has fallen below `bytes`; if it is below already, in the
  // next round. Replaces an earlier request of this kind.
  void tell_below(std::size_t bytes) const;

  // Names the connection, as long as one of its calls is open.
  const void* connection() const;  // REQUIRES: open()

  bool operator==(const Call&) const = default;

 private:
  friend class CallTable;

  Stream* stream() const;       // null: not open
  Stream& open_stream() const;  // REQUIRES: open()

  CallTable* table_ = nullptr;
  std::uint32_t slot_ = 0;
  std::uint32_t generation_ = 0;
};

}  // namespace ingot::rpc::server
