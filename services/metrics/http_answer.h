// What the metrics port answers to a request.
#pragma once

#include <functional>
#include <string>

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/system/error_code.hpp>

namespace ingot::inline services_metrics {

using HttpRequest = boost::beast::http::request<boost::beast::http::empty_body>;
using HttpAnswer = boost::beast::http::response<boost::beast::http::string_body>;

// The text to GET /metrics, and its head to HEAD. Another path gets 404, another method 405, each with a sentence.
// `text` is called for /metrics only. Each answer ends its connection.
HttpAnswer answer_to(const HttpRequest& request, const std::function<std::string()>& text);

// An answer to what could not be read as a request: 408 (`timed_out`), 431 (too long) or 400, with a sentence.
HttpAnswer answer_to_unreadable(const boost::system::error_code& why, bool timed_out);

}  // namespace ingot::services_metrics
