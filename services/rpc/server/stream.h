// One HTTP/2 stream that a client has opened, with its call.
//
//     kHead -> kReceiving -> (kWaiting) -> kRunning -> kAnswered     a unary call
//     kHead -> kRunning -> kAnswered                                 a call with a stream of messages
//     any   -> kAnswered                                             refused, overdue
//
// A stream ends with its HTTP/2 stream, in any state.
#pragma once

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "services/rpc/json/reader.h"
#include "services/rpc/server/call.h"
#include "services/rpc/server/methods.h"
#include "services/rpc/server/output_bytes.h"
#include "services/rpc/server/place.h"
#include "services/rpc/server/request_head.h"
#include "services/rpc/server/timers.h"
#include "services/rpc/wire/framing.h"
#include "services/rpc/wire/free_memory.h"

namespace ingot::rpc::inline server {

class Session;

using QueueHook = boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

// The additional state of a call with JSON.
struct JsonCall {
  const JsonMethod& method;
  JsonReader reader;
  const char* http_status = "200";
  std::string held = {};  // of a call that is passed on: its one message, until the text has ended

  // Frees what is kept of the request.
  void clear() {
    reader.reset();
    free_memory(held);
  }
};

struct Stream : QueueHook {
  enum class Phase : std::uint8_t { kHead, kReceiving, kWaiting, kRunning, kAnswered };

  explicit Stream(std::size_t message_bytes_max)
      : deadline(this, &Stream::overdue), message_bytes_max(message_bytes_max), reader(message_bytes_max) {}

  static void overdue(void* stream);

  // As new, for the next call; small buffers are kept.
  void clear();

  boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> in_session;
  Session* session = nullptr;
  std::int32_t id = 0;
  Phase phase = Phase::kHead;
  bool remote_ended = false;  // the client sends no more
  bool half_closed_told = false;
  bool has_request = false;     // request holds a unary call's message
  bool response_begun = false;  // its header block is submitted
  bool finished = false;        // trailers follow what is in output
  bool deferred = false;        // HTTP/2 waits for more output
  bool over_low = false;        // output was at low_bytes or above: writable() is due below it
  bool bounds_output = false;   // Method::bounds_output
  bool large = false;           // Weight::kLarge
  bool unknown = false;         // Weight::kUnknown
  bool delivering = false;      // its handler is being given messages
  bool streaming = false;       // counts among its connection's streams of messages
  bool trailers_submitted = false;

  RequestHead head;
  std::size_t head_bytes = 0;      // of it, as counted for the connection
  const Method* method = nullptr;  // null: the fallback's
  Place place;                     // of a unary call that runs
  Call call;                       // names it while it runs
  std::unique_ptr<StreamHandler> handler;
  Timer deadline;
  std::uint64_t deadline_ns = Call::kNever;

  const std::size_t message_bytes_max;
  MessageReader reader;
  std::string request;             // of a unary call that waits; or bytes that a handler does not want yet
  std::size_t withheld_bytes = 0;  // received, and not yet added to the stream's window again
  std::size_t charged_bytes = 0;   // of reader, request and json, as counted for the connection

  std::unique_ptr<JsonCall> json;  // null: the call's messages are gRPC's

  OutputBytes output;
  std::size_t framed_bytes = 0;  // of output: HTTP/2 has begun a DATA frame with them
  std::uint64_t moved_ns = 0;    // when output began to wait, or some of it was last taken
  std::size_t low_bytes = kStreamOutputLowBytes;
  std::string initial_metadata;  // names and values, each ended by a zero byte
  std::string trailing_metadata;
  grpc::StatusCode status = grpc::StatusCode::OK;
  std::string status_message;  // percent-encoded
  std::string status_details;  // base64
};

}  // namespace ingot::rpc::server
