// Calls with JSON: their text on one side, gRPC's messages on the other. Between these they are calls like any other.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/rpc/json/writer.h"
#include "services/rpc/server/session.h"
#include "services/rpc/wire/framing.h"
#include "services/rpc/wire/header_field.h"

namespace ingot::rpc::inline server {
namespace {

struct HttpStatus {
  const char* code;
  const char* text;
};

// As the gateway of etcd 3.6 maps gRPC's codes; up to 3.5 some had others.
HttpStatus http_status_of(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::OK:
      return {"200", "OK"};
    case grpc::StatusCode::CANCELLED:
      return {"499", "Client Closed Request"};
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::OUT_OF_RANGE:
      return {"400", "Bad Request"};
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return {"504", "Gateway Timeout"};
    case grpc::StatusCode::NOT_FOUND:
      return {"404", "Not Found"};
    case grpc::StatusCode::ALREADY_EXISTS:
    case grpc::StatusCode::ABORTED:
      return {"409", "Conflict"};
    case grpc::StatusCode::PERMISSION_DENIED:
      return {"403", "Forbidden"};
    case grpc::StatusCode::UNAUTHENTICATED:
      return {"401", "Unauthorized"};
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return {"429", "Too Many Requests"};
    case grpc::StatusCode::UNIMPLEMENTED:
      return {"501", "Not Implemented"};
    case grpc::StatusCode::UNAVAILABLE:
      return {"503", "Service Unavailable"};
    default:
      return {"500", "Internal Server Error"};
  }
}

// The body of an answer, or what ends a stream of them. etcd 3.6 has "code" and "message", and its clients read these;
// the others are of those before.
std::string error_body(const grpc::Status& status, bool of_stream) {
  const HttpStatus http = http_status_of(status.error_code());
  std::string text;
  append_json_string(text, std::string_view(status.error_message()).substr(0, kStatusMessageBytesMax));
  const int code = status.error_code();
  if (!of_stream) return absl::StrCat(R"({"error":)", text, R"(,"message":)", text, R"(,"code":)", code, "}");
  return absl::StrCat(R"({"error":{"grpc_code":)", code, R"(,"http_code":)", http.code, R"(,"message":)", text,
                      R"(,"http_status":")", http.text, R"(","code":)", code, "}}\n");
}

void append_framed(std::string& bytes, std::string_view message) {
  const Prefix prefix = message_prefix(message.size());
  bytes.append(prefix.data(), prefix.size()).append(message);
}

}  // namespace

void Session::find_json(Stream& stream) const {
  const JsonMethod* method = shared_.methods.find_json(stream.head.path());
  if (method == nullptr) return;
  stream.json.reset(new JsonCall{*method, JsonReader(*method->request, stream.message_bytes_max)});
  stream.head.become_json(method->path);
}

// Appends the messages that are complete, as gRPC frames them. False: the call has ended.
bool Session::read_json(Stream& stream, std::string_view text, std::string& messages) {
  JsonReader& reader = stream.json->reader;
  for (;;) {
    const JsonReader::Result result = reader.read(text);
    if (result == JsonReader::Result::kMore) return true;
    if (result == JsonReader::Result::kMessage) {
      if (!stream.json->held.empty()) {
        fail(stream, {grpc::StatusCode::INVALID_ARGUMENT, kTwoMessages});
        return false;
      }
      append_framed(holds_json(stream) ? stream.json->held : messages, reader.message());
      if (reader.message().size() > kKeptCapacityBytes) reader.reset();
      continue;
    }
    const bool large = result == JsonReader::Result::kTooLarge;
    const grpc::Status fault =
        large ? grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED,
                             absl::StrCat("Received message larger than max (more than ", stream.message_bytes_max,
                                          " bytes)"))
              : grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, reader.fault());
    reader.reset();
    fail(stream, fault);
    return false;
  }
}

// The text has ended. Without any, a unary call has an empty request, as at etcd. False: the call has ended.
bool Session::json_ends(Stream& stream) {
  if (stream.phase == Stream::Phase::kAnswered) return false;
  if (!stream.json->reader.between_messages()) {
    fail(stream, {grpc::StatusCode::INVALID_ARGUMENT, "not JSON: the request ends within an object"});
    return false;
  }
  if (stream.phase == Stream::Phase::kReceiving) stream.has_request = true;
  if (!holds_json(stream)) return true;
  std::string message = std::exchange(stream.json->held, {});
  if (message.empty()) append_framed(message, {});
  pass_on(stream, message);
  return stream.phase != Stream::Phase::kAnswered;
}

// A call that is passed on gets its request when all of the text has come: what is wrong behind it is then seen before
// anything is done.
bool Session::holds_json(const Stream& stream) {
  return stream.json->method.one_request && stream.phase == Stream::Phase::kRunning && stream.handler != nullptr;
}

void Session::send_json(Stream& stream, std::string_view message) {
  const JsonMethod& method = stream.json->method;
  if (message.size() > shared_.bounds.json_response_bytes) {
    return finish(stream, {grpc::StatusCode::RESOURCE_EXHAUSTED,
                           absl::StrCat("the answer has ", message.size(), " bytes, and ",
                                        shared_.bounds.json_response_bytes,
                                        " is the most with JSON; ask for less at a time, or call by gRPC")});
  }
  std::string& json = stream.output.back();
  const std::size_t before = json.size();
  if (!method.one_response) json += R"({"result":)";
  if (!append_json(*method.response, message, json)) {
    json.resize(before);
    return finish(stream, {grpc::StatusCode::INTERNAL, "the answer cannot be written as JSON"});
  }
  if (!method.one_response) {
    json += "}\n";
    end_line(json, before);
  }
  sent(stream, json.size() - before);
}

// The line is all from `begin` on.
void Session::end_line(std::string& json, std::size_t begin) const {
  if (!chunks_lines_) return;
  json.insert(begin, absl::StrCat(absl::Hex(json.size() - begin), "\r\n"));
  json += "\r\n";
}

void Session::answer_json(Stream& stream, const grpc::Status& status, const char* http_status) {
  const bool begun = stream.response_begun;
  const bool of_stream = !stream.json->method.one_response;
  if (!begun && !status.ok()) {
    output_taken(stream, stream.output.size());
    const bool given = std::string_view(http_status) != "200";
    stream.json->http_status = given ? http_status : http_status_of(status.error_code()).code;
  }
  if (stream.bounds_output && take_over_output(stream)) {
    // What was sent may end within a line, so an error cannot follow it.
    nghttp2_submit_rst_stream(h2_, NGHTTP2_FLAG_NONE, stream.id, NGHTTP2_CANCEL);
  } else if (!status.ok() && (of_stream || !begun)) {
    std::string body = error_body(status, of_stream);
    if (of_stream) end_line(body, 0);
    stream.output.back() += body;
    output_added(stream, body.size());
  }
  finished_output_bytes_ += stream.output.size();
  begin_response(stream);
}

// What is complete has its length, but for chunks.
void Session::begin_json_response(Stream& stream, const nghttp2_data_provider& provider) {
  const bool has_length = stream.finished && !(chunks_lines_ && !stream.json->method.one_response);
  const std::string length = std::to_string(stream.output.size());
  const std::array<nghttp2_nv, 3> fields = {header_field(":status", stream.json->http_status),
                                            header_field("content-type", "application/json"),
                                            header_field("content-length", length)};
  nghttp2_submit_response(h2_, stream.id, fields.data(), has_length ? 3 : 2, &provider);
}

}  // namespace ingot::rpc::server
