// A client of the metrics port that sends what it is told, byte by byte if need be.
#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <string_view>

namespace ingot {

class HttpClient {
 public:
  // Connects to the port on this machine, from `address` if it is given: all of 127.0.0.0/8 are this machine's.
  HttpClient(int port, const char* address) : HttpClient(0) {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    REQUIRE(::inet_pton(AF_INET, address, &own.sin_addr) == 1);
    REQUIRE(::bind(fd_, reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0);
    connect(port);
  }
  explicit HttpClient(int port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (port != 0) connect(port);
  }
  HttpClient(HttpClient&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  ~HttpClient() {
    if (fd_ >= 0) ::close(fd_);
  }

  void connect(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  }

  void send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      REQUIRE(sent > 0);
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  void end_sending() { ::shutdown(fd_, SHUT_WR); }

  // All that the server sends until it ends the connection.
  std::string receive() {
    std::string answer;
    char buffer[4096];
    for (ssize_t n; (n = ::read(fd_, buffer, sizeof buffer)) > 0;) answer.append(buffer, static_cast<std::size_t>(n));
    return answer;
  }

  // Whether the server has sent something or has ended the connection.
  bool heard() const {
    pollfd waiting{fd_, POLLIN, 0};
    return ::poll(&waiting, 1, 0) != 0;
  }

  int fd() const { return fd_; }

  // The client's own port.
  int port() const {
    sockaddr_in address{};
    socklen_t length = sizeof address;
    REQUIRE(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length) == 0);
    return ntohs(address.sin_port);
  }

 private:
  int fd_;
};

// The answer to one request, head and body.
inline std::string ask(int port, std::string_view request) {
  HttpClient client(port);
  client.send(request);
  return client.receive();
}

// The body of the answer to GET /metrics, which must be 200.
inline std::string scrape(int port) {
  const std::string answer = ask(port, "GET /metrics HTTP/1.0\r\n\r\n");
  const std::size_t body = answer.find("\r\n\r\n");
  REQUIRE(body != std::string::npos);
  REQUIRE_THAT(answer.substr(0, body), Catch::Matchers::Contains("200 OK"));
  return answer.substr(body + 4);
}

}  // namespace ingot
