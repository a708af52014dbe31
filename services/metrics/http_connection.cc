#include "services/metrics/http_connection.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include "services/metrics/limits.h"

namespace ingot::inline services_metrics {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

HttpConnection::HttpConnection(asio::ip::tcp::socket socket, const HttpServerBounds& bounds,
                               const rpc::Http1Answers& answers)
    : socket_(std::move(socket)),
      deadline_(socket_.get_executor()),
      retry_(socket_.get_executor()),
      bounds_(bounds),
      answers_(answers),
      buffer_(kMetricsRequestBytesMax) {
  request_.header_limit(kMetricsRequestBytesMax);
  request_.body_limit(boost::none);  // a body is not read
}

void HttpConnection::start() {
  end_by(bounds_.request_timeout);
  read();
}

void HttpConnection::read() {
  http::async_read_header(socket_, buffer_, request_,
                          [self = shared_from_this()](const error_code& error, std::size_t) { self->was_read(error); });
}

void HttpConnection::was_read(const error_code& error) {
  reading_ = false;
  if (!socket_.is_open()) return;
  const bool unreadable = timed_out_ || error.category() == http::make_error_code(http::error::bad_method).category();
  if (!error) {
    write(answer_to(request_.get(), answers_));
  } else if (unreadable && error != http::error::end_of_stream) {
    write(answer_to_unreadable(error, timed_out_));
  } else {
    close();  // the client has left
  }
}

void HttpConnection::write(HttpAnswer answer) {
  end_by(bounds_.answer_timeout);
  answer_ = std::move(answer);
  http::async_write(socket_, answer_, [self = shared_from_this()](const error_code& error, std::size_t) {
    if (error) return self->close();
    error_code ignored;  // the client may have closed
    self->socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    self->drain(kMetricsSurplusBytesMax);
  });
}

void HttpConnection::drain(std::size_t bytes_left) {
  socket_.async_read_some(asio::buffer(surplus_),
                          [self = shared_from_this(), bytes_left](const error_code& error, std::size_t bytes) {
                            if (error) return self->close_when_taken();
                            if (bytes >= bytes_left) return self->abort();
                            self->drain(bytes_left - bytes);
                          });
}

void HttpConnection::close_when_taken() {
  if (!socket_.is_open()) return;
  tcp_info info{};
  socklen_t size = sizeof info;
  const int failed = ::getsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_INFO, &info, &size);
  if (failed != 0 || info.tcpi_state == TCP_CLOSE) return close();  // both directions have ended, or were reset
  retry_.expires_after(std::chrono::milliseconds(kMetricsTakenPollMs));
  retry_.async_wait([self = shared_from_this()](const error_code&) { self->close_when_taken(); });
}

void HttpConnection::close() {
  error_code ignored;
  deadline_.cancel();
  retry_.cancel();
  socket_.close(ignored);
}

// Without a linger time the kernel would keep an answer that the client does not take, after the socket is closed.
void HttpConnection::abort() {
  error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  close();
}

void HttpConnection::end_by(std::chrono::milliseconds time) {
  deadline_.expires_after(time);
  deadline_.async_wait([self = shared_from_this()](const error_code& cancelled) {
    // A wait that had ended before its deadline was replaced is not reported as cancelled.
    const bool replaced = self->deadline_.expiry() > asio::steady_timer::clock_type::now();
    if (!cancelled && !replaced) self->overdue();
  });
}

void HttpConnection::overdue() {
  if (!reading_ || timed_out_) return abort();
  timed_out_ = true;
  end_by(bounds_.answer_timeout);  // the read may have ended already: then nothing is cancelled, and more is read
  error_code ignored;
  socket_.cancel(ignored);  // was_read() answers
}

}  // namespace ingot::services_metrics
