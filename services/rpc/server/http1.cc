#include "services/rpc/server/http1.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <algorithm>
#include <sstream>
#include <string_view>

#include "services/rpc/server/limits.h"

namespace ingot::rpc::inline server {

namespace http = boost::beast::http;

namespace {

constexpr const char* kSentence =
    "This port speaks gRPC (HTTP/2, etcd's v3 API); HTTP/1.1 has GET /health, /livez, /readyz, /metrics and /version, "
    "and POST /v3/... only.\n";

}  // namespace

std::string last_http1_answer(int status, const char* type, std::string body, bool head_only) {
  http::response<http::string_body> response(static_cast<http::status>(status), 11);
  response.set(http::field::content_type, type);
  response.set(http::field::connection, "close");
  response.body() = std::move(body);
  response.prepare_payload();
  if (head_only) response.body().clear();
  std::ostringstream text;
  text << response;
  return std::move(text).str();
}

std::string answer_http1(std::string_view head, const Http1Answers& answers) {
  http::request_parser<http::empty_body> parser;
  parser.header_limit(kHttp1RequestBytesMax);
  parser.body_limit(boost::none);
  boost::system::error_code error;
  if (head.empty()) {
    return last_http1_answer(431, "text/plain", "The request's head is too long.\n", false);
  }
  parser.put(boost::asio::buffer(head.data(), head.size()), error);
  if (!parser.is_header_done()) return last_http1_answer(400, "text/plain", kSentence, false);
  const auto& request = parser.get();
  const bool head_only = request.method() == http::verb::head;
  const bool get = head_only || request.method() == http::verb::get;
  const std::string target(request.target());
  const auto [asked_path, query] = split_target(target);
  if (const auto found = answers.find(asked_path); get && found != answers.end()) {
    Http1Answer made = found->second(query);
    return last_http1_answer(made.status, made.type, std::move(made.body), head_only);
  }
  return last_http1_answer(404, "text/plain", kSentence, head_only);
}

}  // namespace ingot::rpc::server
