// What a session sends for its calls: header blocks, messages, trailers.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/rpc/server/session.h"
#include "services/rpc/wire/binary_metadata.h"
#include "services/rpc/wire/percent.h"
#include "services/rpc/wire/header_field.h"

namespace ingot::rpc::inline server {
namespace {

constexpr std::size_t kFrameHeaderBytes = 9;

nghttp2_nv constant_field(std::string_view name, std::string_view value) {
  return header_field(name, value, NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE);
}

// Of Stream::initial_metadata or trailing_metadata.
void add_metadata(std::vector<nghttp2_nv>& fields, std::string_view text) {
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find('\0'));
    text.remove_prefix(name.size() + 1);
    const std::string_view value = text.substr(0, text.find('\0'));
    text.remove_prefix(value.size() + 1);
    fields.push_back(header_field(name, value));
  }
}

// The fields of a header block, in a buffer that is used again.
std::vector<nghttp2_nv>& empty_fields() {
  static thread_local std::vector<nghttp2_nv> fields;
  fields.clear();
  return fields;
}

void add_head(std::vector<nghttp2_nv>& fields, const char* http_status) {
  fields.push_back(constant_field(":status", http_status));
  fields.push_back(constant_field("content-type", "application/grpc"));
}

void add_accepted_encodings(std::vector<nghttp2_nv>& fields) {
  fields.push_back(constant_field("grpc-accept-encoding", kAcceptedEncodings));
}

// `number` holds the text of grpc-status.
void add_status(std::vector<nghttp2_nv>& fields, const Stream& stream, std::string& number) {
  if (stream.status == grpc::StatusCode::OK) {
    fields.push_back(constant_field("grpc-status", "0"));
  } else {
    number = std::to_string(static_cast<int>(stream.status));
    fields.push_back(header_field("grpc-status", number));
  }
  if (!stream.status_message.empty()) fields.push_back(header_field("grpc-message", stream.status_message));
  if (!stream.status_details.empty()) fields.push_back(header_field("grpc-status-details-bin", stream.status_details));
  add_metadata(fields, stream.trailing_metadata);
}

}  // namespace

// The sums are those of the bytes, so none of them falls below zero.
void Session::count_output(const Stream& stream, std::size_t added, std::size_t taken) {
  output_bytes_ += added - taken;
  shared_.output_bytes += added - taken;
  (stream.bounds_output ? shared_.bounded_bytes : counted_bytes_) += added - taken;
  if (taken > kKeptCapacityBytes) shared_.freed_bytes += taken;
}

void Session::output_added(Stream& stream, std::size_t bytes) {
  count_output(stream, bytes, 0);
  if (stream.output.size() == bytes) stream.moved_ns = shared_.now_ns;
  stream.over_low |= stream.output.size() >= stream.low_bytes;
  if (counted_bytes_ > shared_.bounds.output_bytes) overflowed_ = true;
  host_.has_output();
}

void Session::output_taken(Stream& stream, std::size_t bytes) {
  count_output(stream, 0, bytes);
  stream.output.take(bytes);
  stream.moved_ns = shared_.now_ns;
  if (!stream.over_low || stream.output.size() >= stream.low_bytes) return;
  stream.over_low = false;
  stream.low_bytes = kStreamOutputLowBytes;
  if (stream.phase == Stream::Phase::kRunning && stream.handler != nullptr) low_.push_back(stream.call);
}

void Session::tell_below(Stream& stream, std::size_t bytes) {
  stream.low_bytes = bytes;
  stream.over_low = stream.output.size() >= bytes;
  if (stream.over_low) return;
  low_.push_back(stream.call);
  host_.has_output();
}

void Session::tell_writable() {
  for (const Call& call : std::exchange(low_, {})) {
    Stream* stream = shared_.calls.find(call);
    if (stream != nullptr && stream->handler != nullptr) stream->handler->writable();
  }
}

void Session::send(Stream& stream, std::string_view message) {
  if (stream.json != nullptr) return send_json(stream, message);
  const Prefix prefix = message_prefix(message.size());
  stream.output.back().append(prefix.data(), prefix.size()).append(message);
  sent(stream, prefix.size() + message.size());
}

void Session::send(Stream& stream, const google::protobuf::MessageLite& message) {
  if (stream.json != nullptr) return send_json(stream, message.SerializePartialAsString());
  std::string& bytes = stream.output.back();
  const std::size_t before = bytes.size();
  bytes.append(kPrefixBytes, '\0');
  message.AppendPartialToString(&bytes);
  const Prefix prefix = message_prefix(bytes.size() - before - kPrefixBytes);
  bytes.replace(before, prefix.size(), prefix.data(), prefix.size());
  sent(stream, bytes.size() - before);
}

void Session::send(Stream& stream, std::vector<std::string>&& pieces) {
  std::size_t bytes = 0;
  for (const std::string& piece : pieces) bytes += piece.size();
  if (stream.json != nullptr) {
    std::string message;
    message.reserve(bytes);
    for (std::string& piece : pieces) message.append(std::exchange(piece, {}));
    return send_json(stream, message);
  }
  const Prefix prefix = message_prefix(bytes);
  stream.output.back().append(prefix.data(), prefix.size());
  for (std::string& piece : pieces) stream.output.append_piece(std::move(piece));
  sent(stream, prefix.size() + bytes);
}

// The answer of a unary call leaves when it is finished: then one look at the connection serves both.
void Session::sent(Stream& stream, std::size_t bytes) {
  output_added(stream, bytes);
  if (stream.handler == nullptr && stream.method != nullptr && stream.method->unary != nullptr) return;
  guard_.message_sent();
  begin_response(stream);
}

void Session::begin_response(Stream& stream) {
  if (stream.response_begun) {
    if (std::exchange(stream.deferred, false)) nghttp2_session_resume_data(h2_, stream.id);
    host_.has_output();
    return;
  }
  // A status of HTTP comes first, so initial metadata waits for a message, or for the end.
  if (stream.json != nullptr && !stream.finished && stream.output.size() == 0) return;
  stream.response_begun = true;
  nghttp2_data_provider provider;
  provider.source.ptr = &stream;
  provider.read_callback = [](nghttp2_session*, std::int32_t, std::uint8_t*, std::size_t length, std::uint32_t* flags,
                              nghttp2_data_source* source, void* user) {
    return static_cast<Session*>(user)->read_output(*static_cast<Stream*>(source->ptr), length, *flags);
  };
  host_.has_output();
  if (stream.json != nullptr) return begin_json_response(stream, provider);
  std::vector<nghttp2_nv>& fields = empty_fields();
  add_head(fields, "200");
  add_accepted_encodings(fields);
  add_metadata(fields, stream.initial_metadata);
  nghttp2_submit_response(h2_, stream.id, fields.data(), fields.size(), &provider);
}

// Too much is kept for clients to keep this answer, too.
grpc::Status Session::no_room_for_answer(const Stream& stream) const {
  return {grpc::StatusCode::RESOURCE_EXHAUSTED,
          absl::StrCat(shared_.refusal(*this, shared_.now_ns), "; the request was carried out, but its answer of ",
                       stream.output.size(), " bytes is lost")};
}

void Session::answer(Stream& stream, const grpc::Status& status, const char* http_status) {
  stream.finished = true;
  stream.status = status.error_code();
  if (stream.json != nullptr) return answer_json(stream, status, http_status);
  const std::string& text = status.error_message();
  if (!text.empty()) stream.status_message = percent_encode(std::string_view(text).substr(0, kStatusMessageBytesMax));
  if (const std::string details = status.error_details(); !details.empty()) {
    stream.status_details = encode_binary_metadata(details);
  }
  if (!stream.response_begun && (!status.ok() || stream.output.size() == 0)) {
    output_taken(stream, stream.output.size());
    return trailers_only(stream, http_status);
  }
  if (stream.bounds_output) take_over_output(stream);
  finished_output_bytes_ += stream.output.size();
  begin_response(stream);
  if (stream.output.size() == stream.framed_bytes) submit_trailers(stream);  // which need no window of the client's
}

// What the handler has bounded is the server's to bound now. True: some of it was dropped.
bool Session::take_over_output(Stream& stream) {
  const bool takes = shared_.now_ns < stream.moved_ns + shared_.bounds.stalled_end_ms * 1'000'000;
  const bool room = reader_reads() && shared_.counted_output_bytes() <= shared_.bounds.output_bytes_all;
  const bool drops = stream.status != grpc::StatusCode::OK && !(takes && room) &&
                     stream.output.size() > stream.framed_bytes;
  if (drops) {
    count_output(stream, 0, stream.output.size() - stream.framed_bytes);
    stream.output.keep_front(stream.framed_bytes);
  }
  const std::size_t left = stream.output.size();
  stream.bounds_output = false;
  shared_.bounded_bytes -= left;
  counted_bytes_ += left;
  return drops;
}

void Session::submit_trailers(Stream& stream) {
  stream.trailers_submitted = true;
  std::vector<nghttp2_nv>& fields = empty_fields();
  std::string number;
  add_status(fields, stream, number);
  nghttp2_submit_trailer(h2_, stream.id, fields.data(), fields.size());
}

void Session::trailers_only(Stream& stream, const char* http_status) {
  stream.response_begun = true;
  std::vector<nghttp2_nv>& fields = empty_fields();
  std::string number;
  add_head(fields, http_status);
  if (stream.head.encoding() == Encoding::kUnknown) add_accepted_encodings(fields);  // what it should have been
  add_metadata(fields, stream.initial_metadata);
  add_status(fields, stream, number);
  nghttp2_submit_response(h2_, stream.id, fields.data(), fields.size(), nullptr);
  host_.has_output();
}

// Called by nghttp2 when it could send so much of a stream. The bytes go to their place in send_data().
ssize_t Session::read_output(Stream& stream, std::size_t length, std::uint32_t& flags) {
  const std::size_t bytes = std::min(length, stream.output.size());
  if (bytes == 0 && (!stream.finished || stream.trailers_submitted)) {
    stream.deferred = true;
    return NGHTTP2_ERR_DEFERRED;
  }
  flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (stream.finished && bytes == stream.output.size()) {
    flags |= NGHTTP2_DATA_FLAG_EOF;
    if (stream.json == nullptr) {
      flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      submit_trailers(stream);
    }
  }
  stream.framed_bytes = bytes;
  return static_cast<ssize_t>(bytes);
}

int Session::send_data(const std::uint8_t* header, std::size_t length, Stream& stream) {
  if (frames_->size() >= kWriteBytes) return NGHTTP2_ERR_WOULDBLOCK;
  frames_->append(reinterpret_cast<const char*>(header), kFrameHeaderBytes);
  stream.output.copy_front(*frames_, length);
  if (stream.finished) finished_output_bytes_ -= length;
  stream.framed_bytes = 0;
  framed_bytes_ += length;
  output_taken(stream, length);
  return 0;
}

}  // namespace ingot::rpc::server
