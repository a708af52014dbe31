// One connection to the metrics port: it reads a request, writes the answer, and ends.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

#include "services/metrics/http_answer.h"
#include "services/metrics/http_server.h"

namespace ingot::inline services_metrics {

// Lives until its last pending operation has ended: the operations own it, and each ends by a deadline. Used by the
// server's thread alone.
class HttpConnection final : public std::enable_shared_from_this<HttpConnection> {
 public:
  // The server's bounds and answers outlive the connection.
  HttpConnection(boost::asio::ip::tcp::socket socket, const HttpServerBounds& bounds,
                 const rpc::Http1Answers& answers);

  void start();

  // Ends the connection in any state: the client gets a reset instead of the rest of its answer.
  void abort();

 private:
  void read();
  void was_read(const boost::system::error_code& error);
  void write(HttpAnswer answer);
  // Reads what the client still sends, until it closes. If the server closed first, with bytes unread, the kernel would
  // reset the connection, and the client might lose the answer.
  void drain(std::size_t bytes_left);
  // Once the client has ended its sending. After a close the kernel would go on to send what it holds of the answer,
  // for minutes, beyond the bound of connections. So the connection looks from time to time whether the client has all.
  void close_when_taken();
  void close();

  // Replaces the earlier deadline.
  void end_by(std::chrono::milliseconds time);
  void overdue();

  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer deadline_;
  boost::asio::steady_timer retry_;  // of close_when_taken()
  const HttpServerBounds& bounds_;
  const rpc::Http1Answers& answers_;
  boost::beast::flat_buffer buffer_;
  boost::beast::http::request_parser<boost::beast::http::empty_body> request_;
  HttpAnswer answer_;
  std::array<char, 4096> surplus_;
  bool reading_ = true;     // the request
  bool timed_out_ = false;  // before the whole request had come
};

}  // namespace ingot::services_metrics
