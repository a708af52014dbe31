// What a server answers to requests of HTTP/1.1 that are no calls (http1_calls.h): two things, and a sentence for all
// else.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace ingot::rpc::inline server {

struct Http1Answer {
  int status = 200;
  std::string body;  // JSON
};

// Each is called with the query of the request's target, which stands behind its "?". Null: answered as anything else
// is.
struct Http1Answers {
  std::function<Http1Answer(std::string_view query)> health;   // GET /health
  std::function<Http1Answer(std::string_view query)> version;  // GET /version
};

// The whole answer to a request with this line and these headers, as the client sent them with the empty line at their
// end; empty: they were too long. The connection ends after it. A body is not read.
std::string answer_http1(std::string_view head, const Http1Answers& answers);

// A whole answer after which the connection ends. `head_only`: the request was HEAD, so the body is only counted.
std::string last_http1_answer(int status, const char* type, std::string body, bool head_only);

}  // namespace ingot::rpc::server
