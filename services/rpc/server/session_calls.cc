// gRPC's side of a session: from a complete header block to the call's handler, and the end of the call.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/rpc/server/session.h"

namespace ingot::rpc::inline server {
namespace {

constexpr const char* kMalformed =
    "grpc: error unmarshalling request: malformed Protocol Buffers message; nothing was done";
constexpr const char* kWithinMessage = "grpc: the request ends within a message";

grpc::Status unknown_method(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (!path.starts_with('/') || slash == 0) {
    return {grpc::StatusCode::UNIMPLEMENTED, "a method's path is /SERVICE/METHOD"};
  }
  return {grpc::StatusCode::UNIMPLEMENTED, absl::StrCat("unknown method ", std::string(path.substr(slash + 1)),
                                                        " for service ", std::string(path.substr(1, slash - 1)))};
}

}  // namespace

void Stream::overdue(void* stream) {
  auto& due = *static_cast<Stream*>(stream);
  due.session->overdue(due);
}

// Finds the handler of a call and asks whether it may be called.
grpc::Status Session::find_method(Stream& stream) const {
  const std::string_view path = stream.head.path();
  stream.method = shared_.methods.find(path);
  const bool well_formed = path.starts_with('/') && path.rfind('/') != 0;
  if (stream.method == nullptr && (!well_formed || shared_.methods.fallback() == nullptr)) return unknown_method(path);
  return shared_.methods.gate() == nullptr ? grpc::Status::OK : shared_.methods.gate()(host_.caller(), path);
}

void Session::count_head(Stream& stream, std::size_t bytes) {
  const std::size_t before = std::exchange(stream.head_bytes, bytes);
  head_bytes_ += bytes - before;
  shared_.head_bytes += bytes - before;
}

void Session::head_complete(Stream& stream) {
  if (!stream.head.says_grpc()) find_json(stream);
  count_head(stream, stream.head.kept_bytes());
  if (const auto fault = stream.head.fault()) return refuse(stream, fault->status, fault->http_status);
  if (head_bytes_ > shared_.bounds.head_bytes) {
    return refuse(stream, {grpc::StatusCode::RESOURCE_EXHAUSTED,
                           absl::StrCat("too much metadata in the open calls of this connection: at most ",
                                        shared_.bounds.head_bytes, " bytes; nothing was done")});
  }
  if (stream.json != nullptr && stream.head.metadata("origin")) {
    return refuse(stream, {grpc::StatusCode::PERMISSION_DENIED, "web pages may not call: the request has an origin"},
                  "403");
  }
  if (const grpc::Status status = find_method(stream); !status.ok()) return refuse(stream, status);
  if (const auto timeout_ns = stream.head.timeout_ns()) {
    stream.deadline_ns = shared_.now_ns + std::min(*timeout_ns, Call::kNever - 1 - shared_.now_ns);
    if (*timeout_ns == 0) return overdue(stream);
    shared_.timers.set(stream.deadline, stream.deadline_ns);
  }
  if (stream.method != nullptr && stream.method->unary != nullptr) {
    stream.phase = Stream::Phase::kReceiving;
  } else {
    begin_stream(stream);
  }
}

// Streams of messages may last for ever. So they never take all streams of a connection: calls with one message find
// some free, while a client that opens too many of the others is told, instead of having all its calls wait in silence.
grpc::Status Session::room_for_stream(const Stream& stream) const {
  const bool passed_on = stream.method == nullptr;
  const int most = passed_on ? shared_.bounds.streaming_calls_all : shared_.bounds.streaming_calls;
  if (streaming_number_ < static_cast<std::size_t>(most)) return grpc::Status::OK;
  return {grpc::StatusCode::RESOURCE_EXHAUSTED,
          absl::StrCat("too many open streams on this connection for a call of ", std::string(stream.head.path()), ": ",
                       most, " at most; use one of them for several requests, or another connection")};
}

void Session::begin_stream(Stream& stream) {
  if (const grpc::Status status = room_for_stream(stream); !status.ok()) return refuse(stream, status);
  stream.streaming = true;
  ++streaming_number_;
  stream.phase = Stream::Phase::kRunning;
  stream.bounds_output = stream.method != nullptr && stream.method->bounds_output;
  stream.call = shared_.calls.open(stream);
  shared_.count(&ServerCounters::calls_begun);
  auto handler = stream.method != nullptr ? stream.method->stream(stream.call)
                                          : shared_.methods.fallback()(stream.call, stream.head.path());
  if (stream.phase == Stream::Phase::kRunning) {
    stream.handler = std::move(handler);
  } else if (handler != nullptr) {
    shared_.handlers_over.push_back(std::move(handler));  // it has finished the call already
  }
}

// The client's one message, and the end of its request, are here.
void Session::request_complete(Stream& stream, std::string_view message) {
  std::string inflated;
  if (!inflate(stream, message, inflated)) return;
  const Method& method = *stream.method;
  const Method::Weight weight = method.weigh == nullptr ? method.weight : method.weigh(message);
  stream.large = weight == Method::Weight::kLarge || (weight == Method::Weight::kUnknown && answers_are_large());
  stream.unknown = weight == Method::Weight::kUnknown;
  if (shared_.turns.admit(*this, stream, shared_.now_ns)) return run_unary(stream, message);
  stream.phase = Stream::Phase::kWaiting;
  if (!stream.large || !shared_.turns.room_for_large(shared_.counted_output_bytes())) {
    shared_.count(&ServerCounters::calls_waited);
  }
  if (message.data() != stream.request.data()) stream.request.assign(message);
  stream.reader.reset(stream.message_bytes_max, kKeptCapacityBytes);
  charge(stream);
}

void Session::begin(Stream& stream) {
  const std::string request = std::move(stream.request);
  stream.request.clear();
  charge(stream);
  run_unary(stream, request);
  credit_withheld();
}

void Session::run_unary(Stream& stream, std::string_view message) {
  stream.phase = Stream::Phase::kRunning;
  stream.call = shared_.calls.open(stream);
  shared_.count(&ServerCounters::calls_begun);
  stream.method->unary(stream.call, message);
}

void Session::remote_end(Stream& stream) {
  if (std::exchange(stream.remote_ended, true)) return;
  if (stream.json != nullptr && !json_ends(stream)) return;
  if (stream.phase == Stream::Phase::kReceiving) {
    if (stream.has_request) return request_complete(stream, stream.request);
    return refuse(stream, {grpc::StatusCode::INTERNAL, stream.reader.between_messages() ? kMalformed : kWithinMessage});
  }
  if (stream.handler != nullptr && stream.request.empty()) end_messages(stream);
}

// All messages of a streaming call have been delivered, and no more come.
void Session::end_messages(Stream& stream) {
  if (stream.phase != Stream::Phase::kRunning || stream.delivering || std::exchange(stream.half_closed_told, true)) {
    return;
  }
  if (!stream.reader.between_messages()) return finish(stream, {grpc::StatusCode::INTERNAL, kWithinMessage});
  stream.handler->half_closed();
}

void Session::second_message(Stream& stream) {
  const bool json = stream.json != nullptr;
  refuse(stream, {json ? grpc::StatusCode::INVALID_ARGUMENT : grpc::StatusCode::UNIMPLEMENTED, kTwoMessages});
}

// Ends a call that no handler has seen.
void Session::refuse(Stream& stream, const grpc::Status& status, const char* http_status) {
  if (stream.phase == Stream::Phase::kAnswered) return;
  shared_.count(&ServerCounters::calls_refused);
  end_call(stream);
  answer(stream, status, http_status);
  stream.head.clear();  // nobody reads it any more, and the stream may stay for long
  count_head(stream, 0);
}

void Session::fail(Stream& stream, const grpc::Status& status) {
  stream.phase == Stream::Phase::kRunning ? finish(stream, status) : refuse(stream, status);
}

void Session::finish(Stream& stream, const grpc::Status& status) {
  shared_.count(&ServerCounters::calls_finished);
  guard_.call_answered();
  if (stream.unknown) answered(stream.output.size());
  shared_.turns.over(stream, shared_.now_ns);
  end_call(stream);
  answer(stream, status, "200");
}

void Session::overdue(Stream& stream) {
  if (stream.phase == Stream::Phase::kAnswered) return;
  shared_.count(&ServerCounters::calls_overdue);
  end_call(stream);
  answer(stream, {grpc::StatusCode::DEADLINE_EXCEEDED, "Deadline Exceeded"}, "200");
}

// The call's name names nothing any more, and its handler hears nothing more. A place that a unary handler still works
// at stays taken until it says that it has ended.
void Session::end_call(Stream& stream) {
  stream.deadline.cancel();
  if (stream.phase == Stream::Phase::kRunning) {
    shared_.calls.close(stream.call, std::move(stream.place));
  } else {
    shared_.turns.over(stream, shared_.now_ns);
  }
  stream.phase = Stream::Phase::kAnswered;
  if (stream.handler != nullptr) shared_.handlers_over.push_back(std::move(stream.handler));
  stream.handler = nullptr;
}

}  // namespace ingot::rpc::server
