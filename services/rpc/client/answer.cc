#include "services/rpc/client/answer.h"

#include <nghttp2/nghttp2.h>

#include <charconv>

#include "absl/strings/str_cat.h"
#include "services/rpc/client/limits.h"
#include "services/rpc/wire/limits.h"
#include "services/rpc/wire/percent.h"

namespace ingot::rpc::client {
namespace {

using grpc::StatusCode;

constexpr std::string_view kContentType = "application/grpc";

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// gRPC's table "HTTP to gRPC status code mapping".
StatusCode code_of_http(int http_status) {
  switch (http_status) {
    case 400:
      return StatusCode::INTERNAL;
    case 401:
      return StatusCode::UNAUTHENTICATED;
    case 403:
      return StatusCode::PERMISSION_DENIED;
    case 404:
      return StatusCode::UNIMPLEMENTED;
    case 429:
    case 502:
    case 503:
    case 504:
      return StatusCode::UNAVAILABLE;
    default:
      return StatusCode::UNKNOWN;
  }
}

std::size_t announced_bytes(std::string_view prefix) {
  std::size_t bytes = 0;
  for (std::size_t i = 1; i < kPrefixBytes; ++i) bytes = bytes << 8 | static_cast<unsigned char>(prefix[i]);
  return bytes;
}

}  // namespace

grpc::Status status_of_reset(std::uint32_t error_code) {
  const std::string text = absl::StrCat("the server reset the call: ", nghttp2_http2_strerror(error_code));
  switch (error_code) {
    case NGHTTP2_REFUSED_STREAM:
      return {StatusCode::UNAVAILABLE, text};
    case NGHTTP2_CANCEL:
      return {StatusCode::CANCELLED, text};
    case NGHTTP2_ENHANCE_YOUR_CALM:
      return {StatusCode::RESOURCE_EXHAUSTED, text};
    case NGHTTP2_INADEQUATE_SECURITY:
      return {StatusCode::PERMISSION_DENIED, text};
    case NGHTTP2_STREAM_CLOSED:
    case NGHTTP2_HTTP_1_1_REQUIRED:
      return {StatusCode::UNKNOWN, text};
    default:
      return {StatusCode::INTERNAL, text};
  }
}

void Answer::clear(std::size_t bytes_max) {
  bytes_max_ = bytes_max;
  finished_ = false;
  http_status_ = 0;
  grpc_content_ = false;
  code_.reset();
  text_.clear();
  bytes_.clear();
  if (bytes_.capacity() > kKeptBytes) bytes_.shrink_to_fit();
  refused_.reset();
}

void Answer::header(std::string_view name, std::string_view value) {
  if (name == ":status") {
    http_status_ = number(value).value_or(0);
  } else if (name == "content-type") {
    grpc_content_ = value.substr(0, kContentType.size()) == kContentType;
  } else if (name == "grpc-status") {
    const int code = number(value).value_or(StatusCode::UNKNOWN);
    code_ = code >= 0 && code <= StatusCode::UNAUTHENTICATED ? code : StatusCode::UNKNOWN;
  } else if (name == "grpc-message") {
    text_ = percent_decode(value.substr(0, kStatusTextBytesMax));
  }
}

bool Answer::data(std::string_view bytes) {
  if (http_status_ != 200 || !grpc_content_) return true;  // a page that says what is wrong: status() does, too
  bytes_.append(bytes);
  if (bytes_.size() < kPrefixBytes) return true;
  if (bytes_[0] != 0) {
    refused_ = {StatusCode::INTERNAL, "the server compressed its answer, though not asked to"};
  } else if (const std::size_t announced = announced_bytes(bytes_); announced > bytes_max_) {
    refused_ = {StatusCode::RESOURCE_EXHAUSTED,
                absl::StrCat("Received message larger than max (", announced, " vs. ", bytes_max_, ")")};
  } else if (bytes_.size() > kPrefixBytes + announced) {
    refused_ = {StatusCode::INTERNAL, "the server sent more than one message as its answer"};
  }
  return !refused_;
}

grpc::Status Answer::status() const {
  if (refused_) return *refused_;
  if (!code_) return status_without_trailer();
  if (*code_ != StatusCode::OK) return {static_cast<StatusCode>(*code_), text_};
  return status_of_message();
}

grpc::Status Answer::status_at_close(std::uint32_t error_code) const {
  return finished_ ? status() : status_of_reset(error_code);
}

std::string_view Answer::message() const { return std::string_view(bytes_).substr(kPrefixBytes); }

grpc::Status Answer::status_of_message() const {
  if (bytes_.size() < kPrefixBytes) return {StatusCode::INTERNAL, "the server ended the call without a message"};
  if (bytes_.size() == kPrefixBytes + announced_bytes(bytes_)) return grpc::Status::OK;
  return {StatusCode::INTERNAL, "the server ended the call in the middle of its message"};
}

grpc::Status Answer::status_without_trailer() const {
  if (http_status_ != 200) {
    return {code_of_http(http_status_), absl::StrCat("the server answered with HTTP status ", http_status_)};
  }
  return {StatusCode::UNKNOWN,
          grpc_content_ ? "the server ended the call without a status" : "the server's answer is not gRPC"};
}

}  // namespace ingot::rpc::client
