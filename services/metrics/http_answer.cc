#include "services/metrics/http_answer.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/verb.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "services/metrics/limits.h"

namespace ingot::inline services_metrics {
namespace {

namespace http = boost::beast::http;

constexpr const char* kPath = "/metrics";
constexpr const char* kSentenceType = "text/plain; charset=utf-8";

// Path and query of a request's target, which a proxy's client gives in absolute form (RFC 9112, 3.2.2):
// "http://HOST/PATH?QUERY".
std::pair<std::string_view, std::string_view> split(std::string_view target) {
  constexpr std::string_view kScheme = "http://";
  if (absl::StartsWithIgnoreCase(absl::string_view(target.data(), target.size()), "http://")) {
    target.remove_prefix(std::min(target.find_first_of("/?", kScheme.size()), target.size()));
  }
  return rpc::split_target(target);
}

HttpAnswer make_answer(http::status status, unsigned version, const char* type, std::string body) {
  HttpAnswer answer(status, version);
  answer.set(http::field::content_type, type);
  answer.keep_alive(false);
  answer.body() = std::move(body);
  answer.prepare_payload();
  return answer;
}

}  // namespace

HttpAnswer answer_to(const HttpRequest& request, const rpc::Http1Answers& answers) {
  const auto [path, query] = split({request.target().data(), request.target().size()});
  const bool head = request.method() == http::verb::head;
  const auto found = answers.find(path);
  HttpAnswer answer;
  if (found == answers.end()) {
    answer = make_answer(http::status::not_found, request.version(), kSentenceType,
                         absl::StrCat("There is nothing here; the metrics are at ", kPath, ".\n"));
  } else if (!head && request.method() != http::verb::get) {
    answer = make_answer(http::status::method_not_allowed, request.version(), kSentenceType,
                         absl::StrCat("This can only be read: GET ", found->first, ".\n"));
    answer.set(http::field::allow, "GET, HEAD");
  } else {
    rpc::Http1Answer made = found->second(query);
    answer = make_answer(static_cast<http::status>(made.status), request.version(), made.type, std::move(made.body));
  }
  if (head) answer.body().clear();  // the length in the header stays that of GET's answer
  return answer;
}

HttpAnswer answer_to_unreadable(const boost::system::error_code& why, bool timed_out) {
  constexpr unsigned kVersion = 11;  // HTTP/1.1
  if (timed_out) {
    return make_answer(http::status::request_timeout, kVersion, kSentenceType,
                       absl::StrCat("No whole request has come in time; send GET ", kPath, ".\n"));
  }
  if (why == http::error::header_limit || why == http::error::buffer_overflow) {
    return make_answer(http::status::request_header_fields_too_large, kVersion, kSentenceType,
                       absl::StrCat("The request is longer than ", kMetricsRequestBytesMax, " bytes; send GET ", kPath,
                                    ".\n"));
  }
  return make_answer(http::status::bad_request, kVersion, kSentenceType,
                     absl::StrCat("This is no HTTP/1 request (", why.message(), "); send GET ", kPath, ".\n"));
}

}  // namespace ingot::services_metrics
