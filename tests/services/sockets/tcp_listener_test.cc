// The TCP socket that the supervisor makes for all front ends.
#include "services/sockets/tcp_listener.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <string>

#include "services/cli/endpoint.h"

namespace ingot {
namespace {

Descriptor connect_to(const std::string& address) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<std::uint16_t>(parse_host_port(address)->port));
  Descriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(fd.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0 ? std::move(fd) : Descriptor();
}

Descriptor accept_from(const Descriptor& listener) {
  pollfd readable{listener.get(), POLLIN, 0};
  REQUIRE(::poll(&readable, 1, -1) == 1);
  return Descriptor(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
}

Descriptor listening(std::string& address) {
  auto listener = claim_listen_address(address, "--listen");
  INFO(listener.status());
  REQUIRE(listener.ok());
  return *std::move(listener);
}

// Regression: a daemon with --listen=HOST:0 and --metrics-listen=HOST:0 could be given one free port twice.
TEST_CASE("a claimed port is neither chosen again nor claimed a second time", "[listen]") {
  std::string first = "127.0.0.1:0";
  const auto held = claim_listen_address(first, "--listen");
  REQUIRE(held.ok());
  CHECK(first != "127.0.0.1:0");

  std::string same = first;
  const auto refused = claim_listen_address(same, "--metrics-listen");
  REQUIRE(absl::IsAlreadyExists(refused.status()));
  CHECK(std::string(refused.status().message()).find("--metrics-listen=HOST:PORT") != std::string::npos);

  std::string second = "127.0.0.1:0";
  const auto other = claim_listen_address(second, "--metrics-listen");
  REQUIRE(other.ok());
  CHECK(second != first);
}

TEST_CASE("a claimed port is free again when the claim is dropped", "[listen]") {
  std::string address = "127.0.0.1:0";
  REQUIRE(claim_listen_address(address, "--listen").ok());
  CHECK(claim_listen_address(address, "--listen").ok());
}

// No connection is accepted between the two: the front end is just starting again.
TEST_CASE("connections wait until they are accepted") {
  std::string address = "127.0.0.1:0";
  const Descriptor listener = listening(address);
  const Descriptor first = connect_to(address), second = connect_to(address);
  REQUIRE((first.valid() && second.valid()));
  CHECK(accept_from(listener).valid());
  CHECK(accept_from(listener).valid());
  CHECK(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC) == -1);  // and does not block
}

TEST_CASE("an instance that ends refuses connections, and one that is taken over accepts them again") {
  std::string address = "127.0.0.1:0";
  const Descriptor listener = listening(address);
  const Descriptor of_another_process(::dup(listener.get()));
  refuse_connections(listener.get());
  CHECK_FALSE(connect_to(address).valid());
  CHECK(::accept4(of_another_process.get(), nullptr, nullptr, SOCK_CLOEXEC) == -1);
  REQUIRE(listen_again(of_another_process.get()).ok());
  const Descriptor client = connect_to(address);
  REQUIRE(client.valid());
  CHECK(accept_from(listener).valid());
  CHECK(listen_again(listener.get()).ok());  // nothing to do
  CHECK(connect_to(address).valid());
}

TEST_CASE("an address that was given up may be taken by another program, which is said") {
  std::string address = "127.0.0.1:0";
  const Descriptor listener = listening(address);
  refuse_connections(listener.get());
  const Descriptor other = listening(address);
  CHECK(absl::IsAlreadyExists(listen_again(listener.get())));
  CHECK(absl::IsInvalidArgument(listen_again(-1)));
}

TEST_CASE("only loopback addresses are of this machine alone") {
  const auto loopback = [](std::string address) {
    CAPTURE(address);
    return is_loopback(listening(address).get());
  };
  CHECK(loopback("127.0.0.1:0"));
  CHECK(loopback("127.3.2.1:0"));
  CHECK(loopback("localhost:0"));
  CHECK_FALSE(loopback("0.0.0.0:0"));
  CHECK_FALSE(is_loopback(-1));
}

TEST_CASE("where IPv6 is to be had, [::] takes connections over IPv4, too") {
  std::string any = "[::]:0", own = "[::1]:0";
  const auto listener = claim_listen_address(any, "--listen");
  if (!listener.ok()) {
    WARN("SKIPPED: this machine has no IPv6");
    return;
  }
  CHECK_FALSE(is_loopback(listener->get()));
  CHECK(connect_to(any).valid());
  CHECK(is_loopback(listening(own).get()));
  CHECK(own.starts_with("[::1]:"));
}

TEST_CASE("an address that is not of this machine is refused with a sentence") {
  for (std::string address : {"192.0.2.1:1", "no.such.host.invalid:1", "h"}) {
    const auto refused = claim_listen_address(address, "--listen");
    CHECK(absl::IsInvalidArgument(refused.status()));
    CHECK_THAT(std::string(refused.status().message()), Catch::Contains("--listen"));
  }
}

}  // namespace
}  // namespace ingot
