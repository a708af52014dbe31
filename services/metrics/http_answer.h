// What the metrics port answers to a request.
#pragma once

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/system/error_code.hpp>

#include "services/rpc/server/http1.h"

namespace ingot::inline services_metrics {

using HttpRequest = boost::beast::http::request<boost::beast::http::empty_body>;
using HttpAnswer = boost::beast::http::response<boost::beast::http::string_body>;

// What `answers` has for the path to GET, and its head to HEAD. Another path gets 404, another method 405, each with a
// sentence. Each answer ends its connection.
HttpAnswer answer_to(const HttpRequest& request, const rpc::Http1Answers& answers);

// An answer to what could not be read as a request: 408 (`timed_out`), 431 (too long) or 400, with a sentence.
HttpAnswer answer_to_unreadable(const boost::system::error_code& why, bool timed_out);

}  // namespace ingot::services_metrics
