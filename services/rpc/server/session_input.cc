// What a session receives for its calls: messages, their bounds, and the windows that it grants.
#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "services/rpc/server/session.h"
#include "services/rpc/wire/compression.h"
#include "services/rpc/wire/free_memory.h"

namespace ingot::rpc::inline server {

using Result = MessageReader::Result;

grpc::Status Session::reader_fault(const Stream& stream, Result result) {
  if (result == Result::kMalformed) {
    return {grpc::StatusCode::INTERNAL, "grpc: a message's prefix begins with 0 or 1; this one does not"};
  }
  return {grpc::StatusCode::RESOURCE_EXHAUSTED,
          absl::StrFormat("Received message larger than max (%d vs. %d)", stream.reader.announced_bytes(),
                          stream.message_bytes_max)};
}

// `last`: these are the last bytes of the request.
void Session::data(Stream* stream, std::string_view bytes, bool last) {
  nghttp2_session_consume_connection(h2_, bytes.size());
  if (stream == nullptr || stream->phase == Stream::Phase::kAnswered) return;  // and no window: the client may stop
  stream->withheld_bytes += bytes.size();
  std::string messages;
  if (stream->json != nullptr) {
    if (!read_json(*stream, bytes, messages)) return;
    bytes = messages;
    last = false;  // what the text says at its end, remote_end() sees
  }
  if (stream->phase == Stream::Phase::kReceiving) {
    receive_unary(*stream, bytes, last);
  } else if (stream->phase == Stream::Phase::kRunning && stream->handler != nullptr) {
    pass_on(*stream, bytes);
  }
  credit(*stream);
}

// Now, or when the handler wants more.
void Session::pass_on(Stream& stream, std::string_view bytes) {
  if (stream.request.empty() && !stream.delivering && stream.handler->wants_more()) {
    deliver(stream, bytes);
  } else {
    stream.request.append(bytes);
    charge(stream);
  }
}

void Session::receive_unary(Stream& stream, std::string_view bytes, bool last) {
  if (stream.has_request && !bytes.empty()) return second_message(stream);
  const Result result = stream.reader.read(bytes);
  if (result == Result::kMore) {
    charge(stream);
    return;
  }
  if (result != Result::kMessage) return refuse(stream, reader_fault(stream, result));
  if (!bytes.empty()) return second_message(stream);
  if (last) {
    stream.remote_ended = true;
    return request_complete(stream, stream.reader.message());
  }
  stream.has_request = true;
  stream.request.assign(stream.reader.message());
  stream.reader.reset_message();
  charge(stream);
}

// Gives messages to the handler of a stream as long as it wants them; the rest is kept.
void Session::deliver(Stream& stream, std::string_view bytes) {
  stream.delivering = true;
  while (stream.phase == Stream::Phase::kRunning) {
    if (!stream.handler->wants_more()) {
      stream.request.append(bytes);
      break;
    }
    const Result result = stream.reader.read(bytes);
    if (result == Result::kMore) break;
    if (result != Result::kMessage) {
      finish(stream, reader_fault(stream, result));
      break;
    }
    std::string inflated;
    std::string_view message = stream.reader.message();
    if (inflate(stream, message, inflated)) stream.handler->message(message);
  }
  stream.delivering = false;
  charge(stream);
}

void Session::resume(Stream& stream) {
  if (stream.handler == nullptr || stream.delivering) return;
  if (!stream.request.empty()) {
    const std::string bytes = std::move(stream.request);
    stream.request.clear();
    deliver(stream, bytes);
    credit(stream);
  }
  if (stream.remote_ended && stream.request.empty() && stream.handler != nullptr) end_messages(stream);
  host_.has_output();  // a window update
}

// Replaces a compressed message by what it says, kept in `inflated`. False: the call has ended.
bool Session::inflate(Stream& stream, std::string_view& message, std::string& inflated) {
  if (!stream.reader.compressed()) return true;
  grpc::Status fault(grpc::StatusCode::INTERNAL, "grpc: a message is compressed, but there is no grpc-encoding");
  if (stream.head.encoding() == Encoding::kCompressed) {
    absl::StatusOr<std::string> result = inflate_message(message, stream.message_bytes_max);
    if (result.ok()) {
      inflated = *std::move(result);
      message = inflated;
      return true;
    }
    fault = {static_cast<grpc::StatusCode>(result.status().code()), std::string(result.status().message())};
  }
  stream.handler == nullptr ? refuse(stream, fault) : finish(stream, fault);
  return false;
}

// Counts what is kept of a request. False: it was too much, and the call has ended.
bool Session::charge(Stream& stream) {
  const std::size_t json_bytes =
      stream.json == nullptr ? 0 : stream.json->reader.kept_bytes() + stream.json->held.size();
  const std::size_t kept = stream.reader.kept_bytes() + stream.request.size() + json_bytes;
  const std::size_t before = std::exchange(stream.charged_bytes, kept);
  received_bytes_ += kept - before;
  shared_.received_bytes += kept - before;
  if (kept < before && before - kept > kKeptCapacityBytes) shared_.freed_bytes += before - kept;
  if (kept <= before) return true;
  const bool own = received_bytes_ > shared_.bounds.received_bytes;
  if (!own && shared_.make_room_for_received(*this)) return true;
  refuse_received(stream, own ? "too many large requests of this connection at a time; nothing was done"
                              : kTooManyRequests);
  return false;
}

void Session::drop_received() {
  const auto less = [](const Stream& a, const Stream& b) { return a.charged_bytes < b.charged_bytes; };
  const auto largest = std::max_element(streams_.begin(), streams_.end(), less);
  if (largest != streams_.end()) refuse_received(*largest, kTooManyRequests);
}

// A stream that has been answered keeps buffers until its client ends it; then only these are freed.
void Session::refuse_received(Stream& stream, const char* why) {
  free_memory(stream.request);
  stream.reader.reset(stream.message_bytes_max, 0);
  if (stream.json != nullptr) stream.json->clear();
  charge(stream);
  fail(stream, {grpc::StatusCode::RESOURCE_EXHAUSTED, why});
}

// Adds what was received to the stream's window again, unless too much is kept already. The oldest request goes on in
// any case, so that one of them is always completed.
void Session::credit(Stream& stream) {
  if (stream.withheld_bytes == 0 || stream.remote_ended || stream.phase == Stream::Phase::kAnswered) return;
  bool may = stream.request.empty() || stream.handler == nullptr;  // a handler that wants no more gets no more
  if (may && received_bytes_ > shared_.bounds.received_bytes_low) {
    const Stream* oldest = nullptr;
    for (const Stream& each : streams_) {
      if (each.charged_bytes == 0 || each.remote_ended || each.phase == Stream::Phase::kAnswered) continue;
      oldest = &each;
      break;
    }
    may = oldest == nullptr || oldest == &stream;
  }
  if (!may) {
    withheld_ = true;
    return;
  }
  nghttp2_session_consume_stream(h2_, stream.id, std::exchange(stream.withheld_bytes, 0));
}

// Something that was kept has gone: others may go on.
void Session::credit_withheld() {
  if (!std::exchange(withheld_, false)) return;
  for (Stream& stream : streams_) credit(stream);
  host_.has_output();
}

}  // namespace ingot::rpc::server
