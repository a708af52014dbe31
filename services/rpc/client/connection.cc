#include "services/rpc/client/connection.h"

#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <utility>

#include "services/rpc/client/limits.h"

namespace ingot::rpc::client {

namespace asio = boost::asio;

Connection::Connection(asio::io_context& io, const std::string& authority, std::size_t answer_bytes_max, Owner& owner)
    : socket_(io), owner_(&owner), session_(authority, answer_bytes_max) {}

void Connection::start(const Endpoint& endpoint) {
  socket_.async_connect(
      endpoint, [self = shared_from_this()](const boost::system::error_code& error) { self->on_connected(error); });
}

void Connection::close() {
  owner_ = nullptr;
  (void)session_.detach_all();
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void Connection::fail(const std::string& why) {
  const auto self = shared_from_this();
  if (owner_ == nullptr || !tell()) return;
  Owner* owner = std::exchange(owner_, nullptr);
  std::vector<OpenCall*> calls = session_.detach_all();
  close();
  owner->lost(*this, std::move(calls), why);
}

void Connection::on_connected(const boost::system::error_code& error) {
  if (owner_ == nullptr) return;
  if (error) return fail(error.message());
  boost::system::error_code failed;
  socket_.non_blocking(true, failed);
  const int family = socket_.local_endpoint(failed).protocol().family();
  if (family == AF_INET || family == AF_INET6) socket_.set_option(asio::ip::tcp::no_delay(true), failed);
  if (failed) return fail(failed.message());
  connected_ = true;
  flush();
  if (owner_ != nullptr) wait_readable();
}

void Connection::wait_readable() {
  socket_.async_wait(asio::socket_base::wait_read,
                     [self = shared_from_this()](const boost::system::error_code& error) { self->on_readable(error); });
}

void Connection::on_readable(const boost::system::error_code& error) {
  if (owner_ == nullptr) return;
  if (error) return fail(error.message());
  static thread_local std::vector<char> input(
      kInputBytes);  // for all connections: none keeps bytes from round to round
  boost::system::error_code failed;
  const std::size_t size = socket_.read_some(asio::buffer(input), failed);
  if (failed == asio::error::would_block) return wait_readable();
  if (failed == asio::error::eof) return fail("the server closed the connection");
  if (failed) return fail(failed.message());
  const absl::Status received = session_.receive({input.data(), size});
  if (!tell()) return;
  if (!received.ok()) return fail(std::string(received.message()));
  flush();
  if (owner_ == nullptr) return;
  if (session_.finished()) return fail("the server ended the connection");
  wait_readable();
}

bool Connection::tell() {
  if (session_.ready() && !std::exchange(told_ready_, true)) owner_->ready(*this);
  if (owner_ != nullptr && session_.going_away() && !std::exchange(told_going_away_, true)) owner_->going_away(*this);
  if (owner_ == nullptr) return false;
  std::vector<OpenCall*> ended = std::move(ended_);  // a call's end may lead here again
  session_.take_ended(ended);
  if (!ended.empty()) owner_->ended(ended);
  ended_ = std::move(ended);
  return owner_ != nullptr;
}

void Connection::flush() {
  while (connected_ && !waits_to_write_ && owner_ != nullptr) {
    const absl::Status made = session_.output(output_);
    if (!made.ok()) return fail(std::string(made.message()));
    if (!tell() || output_.empty() || waits_to_write_) return;  // calls that could not be sent have ended
    boost::system::error_code failed;
    sent_ += socket_.write_some(asio::buffer(output_.data() + sent_, output_.size() - sent_), failed);
    if (failed && failed != asio::error::would_block) return fail(failed.message());
    if (sent_ == output_.size()) {
      const bool more = sent_ >= kOutputBytes;
      output_.clear();
      sent_ = 0;
      if (!more) return;
      continue;
    }
    waits_to_write_ = true;
    socket_.async_wait(asio::socket_base::wait_write,
                       [self = shared_from_this()](const boost::system::error_code& error) {
                         self->waits_to_write_ = false;
                         if (!error) self->flush();  // an error shows when the socket is read
                       });
  }
}

}  // namespace ingot::rpc::client
