// Messages between clients (above all the front end) and replicas over the transport.
//
//   request   u8 class=kRequest  u8 kind  u64 client  u64 sequence  u64 acknowledged_below  u16 reply_to  u16 responder
//             payload to the end
//   response  u8 class=kResponse u8 status  u64 sequence  u64 slot  u16 leader  u16 acceptor  payload to the end
//
// A command in a batch is the request from `client` on, with its payload length-prefixed (append_command).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.h"
#include "core/wire.h"

namespace ingot::inline replication_requests {

enum class RequestKind : std::uint8_t {
  kCommand = 1,            // agreed on, applied once, answered by `responder`; sent to the leader
  kLinearizableQuery = 2,  // sent to the leader
  kLocalQuery = 3,         // any replica answers from its own state ("serializable")
  kDigest = 4,             // any replica answers with its applied slot and digest (payload: u64 digest)
  kMove = 5,               // an operator moves a role (replication/agreement/move_request.h); not idempotent
  kStandingQuery = 6,      // any replica answers from its own state, once it has something to say; one of a client
};

// The sender and the responder of a command that a replica itself proposes: no client waits for it.
inline constexpr EndpointId kNoEndpoint{0xffff};

struct Request {
  RequestKind kind = RequestKind::kCommand;
  std::uint64_t client = 0;    // session; chosen at random by each client process
  std::uint64_t sequence = 0;  // the request within the session; a retry has the same
  std::uint64_t acknowledged_below = 0;  // results of all sequences below this have arrived and may be dropped
  EndpointId reply_to;
  EndpointId responder;  // the replica that answers a command once it has applied it
  std::string_view payload;
};

struct Response {
  enum class Status : std::uint8_t {
    kOk = 0,
    kNotLeader = 1,   // not carried out; `leader` is the leader
    kBusy = 2,        // not carried out; a bound was reached
    kResultGone = 3,  // carried out earlier, but the result is no longer kept
    kRefused = 4,     // malformed
  };
  Status status = Status::kOk;
  std::uint64_t sequence = 0;
  Slot slot;  // slots below it are applied in the state that the answer is from
  EndpointId leader;
  EndpointId acceptor;
  std::string_view payload;
};

// Payloads of decoded messages view `bytes`.
std::string encode(const Request& request);
void append_header(const Request& request, WireWriter& out);  // all but the payload, which follows it
std::string encode(const Response& response);
void append(const Response& response, std::string& out);  // appends the same bytes
std::optional<Request> decode_request(std::string_view bytes);
std::optional<Response> decode_response(std::string_view bytes);

// Appends one command to a batch, the content of one slot. All commands of a batch decode or none does.
void append_command(std::string& batch, const Request& command);
std::optional<std::vector<Request>> decode_batch(std::string_view batch);

}  // namespace ingot::replication_requests
