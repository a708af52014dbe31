#include "replication/requests/request.h"

#include <algorithm>
#include <utility>

#include "replication/requests/limits.h"
#include "replication/requests/message_class.h"

namespace ingot::inline replication_requests {
namespace {

// Fixed part of a command within a batch. Bounds how much memory a hostile count can reserve by the bytes received.
constexpr std::size_t kCommandHeaderBytes = 8 + 8 + 8 + 2 + 2 + 4;
constexpr std::size_t kUsualCommandBytes = 100;  // of one with a small key and value

constexpr std::size_t kResponseHeaderBytes = 1 + 1 + 8 + 8 + 2 + 2;

constexpr auto kRequestClass = static_cast<std::uint8_t>(MessageClass::kRequest);
constexpr auto kResponseClass = static_cast<std::uint8_t>(MessageClass::kResponse);

void write_header(WireWriter& out, const Request& request) {
  out.u64(request.client).u64(request.sequence).u64(request.acknowledged_below);
  out.u16(request.reply_to.value()).u16(request.responder.value());
}

void read_header(WireReader& in, Request& request) {
  request.client = in.u64();
  request.sequence = in.u64();
  request.acknowledged_below = in.u64();
  request.reply_to = EndpointId(in.u16());
  request.responder = EndpointId(in.u16());
}

}  // namespace

std::string encode(const Request& request) {
  WireWriter out(2 + kCommandHeaderBytes + request.payload.size());
  append_header(request, out);
  out.raw(request.payload);
  return out.take();
}

void append_header(const Request& request, WireWriter& out) {
  out.u8(kRequestClass).u8(static_cast<std::uint8_t>(request.kind));
  write_header(out, request);
}

std::string encode(const Response& response) {
  std::string out;
  out.reserve(kResponseHeaderBytes + response.payload.size());
  append(response, out);
  return out;
}

void append(const Response& response, std::string& out) {
  WireWriter writer(std::move(out));
  writer.u8(kResponseClass).u8(static_cast<std::uint8_t>(response.status));
  writer.u64(response.sequence).u64(response.slot.value());
  writer.u16(response.leader.value()).u16(response.acceptor.value());
  writer.raw(response.payload);
  out = writer.take();
}

std::optional<Request> decode_request(std::string_view bytes) {
  WireReader in(bytes);
  if (in.u8() != kRequestClass) return std::nullopt;
  const std::uint8_t kind = in.u8();
  Request request;
  request.kind = static_cast<RequestKind>(kind);
  read_header(in, request);
  request.payload = in.rest();
  const bool known = kind >= static_cast<std::uint8_t>(RequestKind::kCommand) &&
                     kind <= static_cast<std::uint8_t>(RequestKind::kStandingQuery);
  const std::size_t payload_max = request.kind == RequestKind::kCommand ? kRequestBytesMax : kQueryBytesMax;
  if (!in.ok() || !known || request.payload.size() > payload_max) return std::nullopt;
  return request;
}

std::optional<Response> decode_response(std::string_view bytes) {
  WireReader in(bytes);
  if (in.u8() != kResponseClass) return std::nullopt;
  const std::uint8_t status = in.u8();
  Response response;
  response.status = static_cast<Response::Status>(status);
  response.sequence = in.u64();
  response.slot = Slot(in.u64());
  response.leader = EndpointId(in.u16());
  response.acceptor = EndpointId(in.u16());
  response.payload = in.rest();
  if (!in.ok() || status > static_cast<std::uint8_t>(Response::Status::kRefused)) return std::nullopt;
  return response;
}

void append_command(std::string& batch, const Request& command) {
  WireWriter out(std::move(batch));
  write_header(out, command);
  out.bytes(command.payload);
  batch = out.take();
}

std::optional<std::vector<Request>> decode_batch(std::string_view batch) {
  if (batch.size() > kBatchBytesMax) return std::nullopt;
  WireReader in(batch);
  std::vector<Request> commands;
  commands.reserve(std::min<std::size_t>(batch.size() / kUsualCommandBytes + 1, kBatchCommandsMax));
  while (in.remaining() > 0) {
    Request command;
    read_header(in, command);
    command.payload = in.bytes();
    if (in.failed() || commands.size() == kBatchCommandsMax) return std::nullopt;
    if (command.payload.size() > kRequestBytesMax) return std::nullopt;
    commands.push_back(command);
  }
  return commands;
}

}  // namespace ingot::replication_requests
