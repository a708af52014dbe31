#include "services/rpc/server/stream.h"

#include "services/rpc/wire/free_memory.h"

namespace ingot::rpc::inline server {
namespace {

void empty(std::string& text) {
  text.clear();
  if (text.capacity() > kKeptCapacityBytes) free_memory(text);
}

}  // namespace

void Stream::clear() {
  if (QueueHook::is_linked()) unlink();
  if (in_session.is_linked()) in_session.unlink();
  deadline.cancel();
  deadline_ns = Call::kNever;
  session = nullptr;
  phase = Phase::kHead;
  remote_ended = half_closed_told = has_request = response_begun = finished = deferred = over_low = false;
  large = unknown = delivering = bounds_output = streaming = trailers_submitted = false;
  low_bytes = kStreamOutputLowBytes;
  place = {};
  head.clear();
  method = nullptr;
  call = {};
  handler.reset();
  json.reset();
  withheld_bytes = charged_bytes = head_bytes = framed_bytes = 0;
  moved_ns = 0;
  reader.reset(message_bytes_max, kKeptCapacityBytes);
  output.clear();
  empty(request);
  empty(initial_metadata);
  empty(trailing_metadata);
  status = grpc::StatusCode::OK;
  empty(status_message);
  empty(status_details);
}

}  // namespace ingot::rpc::server
