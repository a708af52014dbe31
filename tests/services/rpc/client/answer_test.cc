// What headers, bytes and trailers come to, as gRPC's documents have it.
#include "services/rpc/client/answer.h"

#include <nghttp2/nghttp2.h>

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "services/rpc/client/limits.h"
#include "services/rpc/wire/framing.h"

namespace ingot::rpc::client {
namespace {

using grpc::StatusCode;

std::string framed(const std::string& message, bool compressed = false) {
  const Prefix prefix = message_prefix(message.size(), compressed);
  return std::string(prefix.begin(), prefix.end()) + message;
}

// An answer whose headers have come.
Answer begun() {
  Answer answer;
  answer.clear(1000);
  answer.header(":status", "200");
  answer.header("content-type", "application/grpc+proto");
  return answer;
}

grpc::Status finished(Answer answer, const std::vector<std::pair<std::string, std::string>>& trailers) {
  for (const auto& [name, value] : trailers) answer.header(name, value);
  answer.finish();
  return answer.status_at_close(NGHTTP2_NO_ERROR);
}

TEST_CASE("a message, in any pieces, and a status of 0 are an answer") {
  const std::string bytes = framed("some message");
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    Answer answer = begun();
    for (std::size_t at = 0; at < bytes.size(); at += piece)
      CHECK(answer.data(std::string_view(bytes).substr(at, piece)));
    answer.header("grpc-status", "0");
    answer.finish();
    CHECK(answer.status_at_close(NGHTTP2_NO_ERROR).ok());
    CHECK(answer.message() == "some message");
  }
}

TEST_CASE("a reused answer has forgotten the last one") {
  Answer answer = begun();
  answer.data(framed("first"));
  answer.header("grpc-status", "5");
  answer.header("grpc-message", "text");
  answer.finish();
  answer.clear(1000);
  CHECK(answer.status_at_close(NGHTTP2_CANCEL).error_code() == StatusCode::CANCELLED);
  answer.header(":status", "200");
  answer.header("content-type", "application/grpc");
  answer.data(framed(""));
  answer.header("grpc-status", "0");
  answer.finish();
  CHECK(answer.status_at_close(NGHTTP2_NO_ERROR).ok());
  CHECK(answer.message().empty());
}

TEST_CASE("each status code has its text, decoded, with or without a message") {
  for (int code = 1; code <= 16; ++code) {
    const grpc::Status status =
        finished(begun(), {{"grpc-status", std::to_string(code)}, {"grpc-message", "90%25 of %C3%A4pfel, 100%"}});
    CHECK(status.error_code() == code);
    CHECK(status.error_message() == "90% of \xC3\xA4pfel, 100%");
  }
  Answer with_message = begun();
  with_message.data(framed("ignored"));
  CHECK(finished(with_message, {{"grpc-status", "13"}}).error_code() == StatusCode::INTERNAL);
}

TEST_CASE("a code that is none is UNKNOWN") {
  for (const char* code : {"17", "-1", "x", "", "4294967296", "0x0"}) {
    CHECK(finished(begun(), {{"grpc-status", code}}).error_code() == StatusCode::UNKNOWN);
  }
}

TEST_CASE("a status's text is cut off at its bound") {
  const grpc::Status status =
      finished(begun(), {{"grpc-status", "2"}, {"grpc-message", std::string(3 * kStatusTextBytesMax, 'x')}});
  CHECK(status.error_message().size() == kStatusTextBytesMax);
}

TEST_CASE("an answer of no message, of two, of half of one, or of a compressed one is INTERNAL") {
  CHECK(finished(begun(), {{"grpc-status", "0"}}).error_code() == StatusCode::INTERNAL);
  Answer half = begun();
  CHECK(half.data(framed("half of it").substr(0, 8)));
  CHECK(finished(half, {{"grpc-status", "0"}}).error_code() == StatusCode::INTERNAL);
  Answer two = begun();
  CHECK_FALSE(two.data(framed("one") + framed("two")));
  CHECK(two.status().error_code() == StatusCode::INTERNAL);
  Answer compressed = begun();
  CHECK_FALSE(compressed.data(framed("one", true)));
  CHECK(compressed.status().error_code() == StatusCode::INTERNAL);
}

TEST_CASE("a message above the bound is refused when its length is known") {
  Answer answer = begun();
  CHECK(answer.data(framed(std::string(1000, 'x'))));
  answer = begun();
  CHECK_FALSE(answer.data(framed(std::string(1001, 'x')).substr(0, 5)));
  CHECK(answer.status().error_code() == StatusCode::RESOURCE_EXHAUSTED);
  CHECK(answer.status().error_message() == "Received message larger than max (1001 vs. 1000)");
}

TEST_CASE("an HTTP status without gRPC's is mapped, and its page is not read") {
  const std::pair<const char*, StatusCode> cases[] = {
      {"400", StatusCode::INTERNAL},      {"401", StatusCode::UNAUTHENTICATED}, {"403", StatusCode::PERMISSION_DENIED},
      {"404", StatusCode::UNIMPLEMENTED}, {"429", StatusCode::UNAVAILABLE},     {"502", StatusCode::UNAVAILABLE},
      {"503", StatusCode::UNAVAILABLE},   {"504", StatusCode::UNAVAILABLE},     {"500", StatusCode::UNKNOWN},
      {"301", StatusCode::UNKNOWN}};
  for (const auto& [http, code] : cases) {
    Answer answer;
    answer.clear(10);
    answer.header(":status", http);
    answer.header("content-type", "text/html");
    CHECK(answer.data("<html>a page of more than ten bytes</html>"));
    answer.finish();
    const grpc::Status status = answer.status_at_close(NGHTTP2_NO_ERROR);
    CHECK(status.error_code() == code);
    CHECK(status.error_message() == std::string("the server answered with HTTP status ") + http);
  }
}

TEST_CASE("200 without gRPC's content or status is UNKNOWN") {
  Answer page;
  page.clear(10);
  page.header(":status", "200");
  page.header("content-type", "text/html");
  CHECK(page.data("<html>fine</html>"));
  CHECK(finished(page, {}).error_message() == "the server's answer is not gRPC");
  CHECK(finished(begun(), {}).error_message() == "the server ended the call without a status");
  CHECK(finished(begun(), {}).error_code() == StatusCode::UNKNOWN);
}

TEST_CASE("a reset's code is mapped, but a reset after the end changes nothing") {
  const std::pair<std::uint32_t, StatusCode> cases[] = {
      {NGHTTP2_NO_ERROR, StatusCode::INTERNAL},
      {NGHTTP2_PROTOCOL_ERROR, StatusCode::INTERNAL},
      {NGHTTP2_INTERNAL_ERROR, StatusCode::INTERNAL},
      {NGHTTP2_FLOW_CONTROL_ERROR, StatusCode::INTERNAL},
      {NGHTTP2_REFUSED_STREAM, StatusCode::UNAVAILABLE},
      {NGHTTP2_CANCEL, StatusCode::CANCELLED},
      {NGHTTP2_ENHANCE_YOUR_CALM, StatusCode::RESOURCE_EXHAUSTED},
      {NGHTTP2_INADEQUATE_SECURITY, StatusCode::PERMISSION_DENIED},
      {NGHTTP2_HTTP_1_1_REQUIRED, StatusCode::UNKNOWN},
  };
  for (const auto& [error, code] : cases) {
    CHECK(begun().status_at_close(error).error_code() == code);
    Answer ended = begun();
    ended.header("grpc-status", "3");
    ended.finish();
    CHECK(ended.status_at_close(error).error_code() == StatusCode::INVALID_ARGUMENT);
  }
}

}  // namespace
}  // namespace ingot::rpc::client
