// What a server answers to requests of HTTP/1.1 that are no calls (http1_calls.h): what its table has, and a sentence
// for all else.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace ingot::rpc::inline server {

struct Http1Answer {
  int status = 200;
  std::string body;
  const char* type = "application/json";
};

// What is there to GET, by path. Each is called with the query of the request's target, which stands behind its "?".
using Http1Answers = std::map<std::string, std::function<Http1Answer(std::string_view query)>, std::less<>>;

// Path and query of a request's target, "PATH?QUERY".
inline std::pair<std::string_view, std::string_view> split_target(std::string_view target) {
  const std::size_t path_end = std::min(target.find('?'), target.size());
  return {target.substr(0, path_end), target.substr(std::min(path_end + 1, target.size()))};
}

// The whole answer to a request with this line and these headers, as the client sent them with the empty line at their
// end; empty: they were too long. The connection ends after it. A body is not read.
std::string answer_http1(std::string_view head, const Http1Answers& answers);

// A whole answer after which the connection ends. `head_only`: the request was HEAD, so the body is only counted.
std::string last_http1_answer(int status, const char* type, std::string body, bool head_only);

}  // namespace ingot::rpc::server
