#include "services/metrics/http_server.h"

#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "services/cli/endpoint.h"
#include "services/metrics/http_connection.h"

namespace ingot::inline services_metrics {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// Accepts connections; all its work is done by its thread.
class HttpServer::Listener {
 public:
  Listener(rpc::Http1Answers answers, HttpServerBounds bounds) : answers_(std::move(answers)), bounds_(bounds) {}

  ~Listener() {
    io_.stop();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status listen(const std::string& address) {
    const auto parsed = parse_host_port(address);
    if (!parsed.ok()) return parsed.status();
    error_code error;
    const auto found =
        tcp::resolver(io_).resolve(parsed->host, std::to_string(parsed->port), tcp::resolver::passive, error);
    if (error) return absl::InvalidArgumentError(error.message());
    const tcp::endpoint endpoint = found.begin()->endpoint();
    acceptor_.open(endpoint.protocol(), error);
    // Connections of an earlier run in TIME_WAIT do not block the address.
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(tcp::acceptor::max_listen_connections, error);
    return error ? absl::AlreadyExistsError(error.message()) : absl::OkStatus();
  }

  absl::Status run() {
    accept();
    try {
      thread_ = std::thread([this] { io_.run(); });
    } catch (const std::system_error& error) {
      return absl::ResourceExhaustedError(error.what());
    }
    return absl::OkStatus();
  }

  int port() const { return acceptor_.local_endpoint().port(); }

 private:
  void accept() {
    acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
      if (error) return accept_later();
      admit(std::move(socket));
      accept();
    });
  }

  // An error is a lack of descriptors or of memory, here or in the kernel. The connection waits in the kernel.
  void accept_later() {
    retry_.expires_after(std::chrono::milliseconds(kMetricsAcceptRetryMs));
    retry_.async_wait([this](const error_code&) { accept(); });
  }

  struct Admitted {
    asio::ip::address peer;
    std::weak_ptr<HttpConnection> connection;  // its operations own it
  };

  void admit(tcp::socket socket) {
    std::erase_if(connections_, [](const Admitted& each) { return each.connection.expired(); });
    if (connections_.size() >= static_cast<std::size_t>(bounds_.connections)) end_one();
    error_code ignored;  // the client may have left
    const asio::ip::address peer = socket.remote_endpoint(ignored).address();
    const auto connection = std::make_shared<HttpConnection>(std::move(socket), bounds_, answers_);
    connections_.push_back({peer, connection});
    connection->start();
  }

  // Ends the oldest connection of the address that has the most. A client that sends its request at once has its answer
  // before that, unless others from its own address come faster.
  void end_one() {
    const auto number = [this](const Admitted& of) {
      return absl::c_count_if(connections_, [&](const Admitted& each) { return each.peer == of.peer; });
    };
    const auto victim = absl::c_max_element(
        connections_, [&](const Admitted& one, const Admitted& other) { return number(one) < number(other); });
    if (const auto connection = victim->connection.lock()) connection->abort();
    connections_.erase(victim);
  }

  const rpc::Http1Answers answers_;
  const HttpServerBounds bounds_;
  boost::asio::io_context io_{1};  // one thread
  tcp::acceptor acceptor_{io_};
  boost::asio::steady_timer retry_{io_};
  std::vector<Admitted> connections_;  // the oldest first
  std::thread thread_;
};

HttpServer::HttpServer(std::unique_ptr<Listener> listener) : listener_(std::move(listener)) {}

HttpServer::~HttpServer() = default;

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::start(const std::string& address,
                                                              rpc::Http1Answers answers,
                                                              HttpServerBounds bounds) {
  auto listener = std::make_unique<Listener>(std::move(answers), bounds);
  if (auto status = listener->listen(address); !status.ok()) return status;
  if (auto status = listener->run(); !status.ok()) return status;
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(listener)));
}

int HttpServer::port() const { return listener_->port(); }

}  // namespace ingot::services_metrics
