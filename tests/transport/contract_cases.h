// The guarantees of transport.h, as cases for endpoints that take turns. A machine's contract test includes this file
// once and defines in make_contract_table() how its endpoints are created and called; it tests concurrency itself.
#pragma once

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/counters.h"
#include "tests/transport/message_pattern.h"
#include "transport/host/host_transport.h"
#include "transport/transport.h"

namespace ingot::test {

inline EndpointId id(int endpoint) { return EndpointId(static_cast<std::uint16_t>(endpoint)); }

// A set of endpoints on a fresh fabric.
class ContractTable {
 public:
  virtual ~ContractTable() = default;

  // Calls the body in the thread or program where that endpoint's transport may be used.
  virtual void on(int endpoint, absl::FunctionRef<void(Transport&)> body) = 0;
  // The number of one-line messages that a sender may have in flight to one receiver.
  virtual std::uint32_t slots() const = 0;

  bool send(int from, int to, std::uint32_t n, std::size_t bytes) {
    bool sent = false;
    const auto message = make_message(id(from), id(to), n, bytes);
    on(from, [&](Transport& end) {
      sent = n % 2 == 0 ? end.send(id(to), message) : end.send_gathered(id(to), in_two_pieces(message, n));
    });
    return sent;
  }
  // A message may be in two pieces, of any sizes.
  static GatheredMessage in_two_pieces(std::span<const std::byte> message, std::uint32_t n) {
    const std::size_t header = n * 7 % (message.size() + 1);
    return {message.first(header), message.subspan(header)};
  }
  bool flush(int endpoint) {
    bool waiting = false;
    on(endpoint, [&](Transport& end) { waiting = end.flush(); });
    return waiting;
  }
  bool readable(int endpoint) {
    bool found = false;
    on(endpoint, [&](Transport& end) { found = end.readable(); });
    return found;
  }
  int probe(int endpoint, Transport::Handler handler, int limit) {
    int count = 0;
    on(endpoint, [&](Transport& end) { count = end.probe(handler, limit); });
    return count;
  }
  // Receives at `to`: messages must be the n-th and following from `from`.
  int receive(int to, int from, std::uint32_t n, std::size_t bytes) {
    return probe(
        to,
        [&](EndpointId sender, std::span<const std::byte> message) {
          CHECK(sender == id(from));
          CHECK(check_message(message, id(from), id(to), n++, bytes) == "");
        },
        1 << 20);
  }
};

// ---- Defined by the including test ----

std::unique_ptr<ContractTable> make_contract_table(std::string_view kind, int endpoints,
                                                   std::vector<LinkHooks> links_of_0 = {});
struct ContractBounds {
  int endpoints_max;
  std::vector<std::size_t> long_messages;  // bytes
};
ContractBounds contract_bounds();

// ---- The cases ----

TEST_CASE("send to a full channel returns false and sends nothing") {
  const std::string_view kind = GENERATE("nvp", "srbp");
  const auto table = make_contract_table(kind, 3);
  for (std::uint32_t turn = 0; turn < 5; ++turn) {
    std::uint32_t n = 0;
    while (table->send(0, 1, n, 20)) ++n;
    CHECK(n == table->slots());
    CHECK_FALSE(table->send(0, 1, n, 20));
    CHECK_FALSE(table->send(0, 1, n, 4000));
    CHECK(table->send(2, 1, 0, 20));  // another sender has room of its own
    std::uint32_t from_0 = 0, from_2 = 0;
    table->probe(
        1,
        [&](EndpointId from, std::span<const std::byte> message) {
          std::uint32_t& count = from == id(0) ? from_0 : from_2;
          CHECK(check_message(message, from, id(1), count++, 20) == "");
        },
        1000);
    CHECK(from_0 == n);
    CHECK(from_2 == 1);
  }
}

TEST_CASE("a message longer than the channel is taken if none waits, and moves on in later calls") {
  const std::string_view kind = GENERATE("nvp", "srbp");
  for (const std::size_t bytes : contract_bounds().long_messages) {
    const auto table = make_contract_table(kind, 2);
    REQUIRE(table->send(0, 1, 0, bytes));
    CHECK_FALSE(table->send(0, 1, 1, 10));
    CHECK(table->flush(0));
    int received = 0;
    while (received == 0) {
      received = table->receive(1, 0, 0, bytes);
      const bool waiting = table->flush(0);
      if (received == 0) CHECK((waiting || table->readable(1)));
    }
    CHECK_FALSE(table->flush(0));
    CHECK(table->send(0, 1, 1, 10));
    CHECK(table->receive(1, 0, 1, 10) == 1);
  }
}

TEST_CASE("messages of every length arrive whole") {
  const std::string_view kind = GENERATE("nvp", "srbp");
  const auto table = make_contract_table(kind, 2);
  for (std::uint32_t bytes = 1; bytes <= 400; ++bytes) {
    REQUIRE(table->send(0, 1, bytes, bytes));
    REQUIRE(table->receive(1, 0, bytes, bytes) == 1);
  }
}

TEST_CASE("long and short messages that take turns arrive whole and in order") {
  const std::string_view kind = GENERATE("nvp", "srbp");
  const auto table = make_contract_table(kind, 2);
  std::vector<std::size_t> lengths;
  for (const std::size_t bytes : {1'023, 1'024, 1'025, 16'383, 16'384, 16'385, 17'407, 17'408, 33'000}) {
    lengths.insert(lengths.end(), {bytes, 20, bytes, bytes});
  }
  std::uint32_t sent = 0, received = 0;
  while (received < lengths.size()) {
    while (sent < lengths.size() && table->send(0, 1, sent, lengths[sent])) ++sent;
    table->probe(
        1,
        [&](EndpointId, std::span<const std::byte> message) {
          REQUIRE(received < sent);
          CHECK(check_message(message, id(0), id(1), received, lengths[received]) == "");
          ++received;
        },
        3);
    table->flush(0);
  }
}

TEST_CASE("probe stops at its limit, and a busy sender does not keep the others waiting") {
  const std::string_view kind = GENERATE("nvp", "srbp");
  constexpr int kEndpoints = 20;
  const auto table = make_contract_table(kind, kEndpoints);
  const std::uint32_t each = std::min(table->slots(), 20u);
  for (int from = 1; from < kEndpoints; ++from) {
    for (std::uint32_t n = 0; n < each; ++n) REQUIRE(table->send(from, 0, n, 8));
  }
  std::vector<std::uint32_t> heard(kEndpoints);
  for (std::uint32_t i = 0; i < 2 * kEndpoints * each; ++i) {
    CHECK(table->probe(0, [&](EndpointId from, auto) { ++heard[from.value()]; }, 1) <= 1);
    static_cast<void>(table->send(1, 0, 0, 8));  // keeps its ring full
  }
  for (int from = 2; from < kEndpoints; ++from) CHECK(heard[from] == each);
}

TEST_CASE("readable tells whether probe would find a message") {
  const std::string_view kind = GENERATE("nvp", "srbp");
  const int endpoints = contract_bounds().endpoints_max;
  const auto table = make_contract_table(kind, endpoints);
  CHECK_FALSE(table->readable(0));
  for (const int from : {1, 7, 31, 32, 33, 47, 63, 64, 65, 127, 200, 255}) {
    if (from >= endpoints) break;
    REQUIRE(table->send(from, 0, 0, 8));
    CHECK(table->readable(0));
    CHECK(table->receive(0, from, 0, 8) == 1);
    CHECK_FALSE(table->readable(0));
  }
}

TEST_CASE("a handler may send") {
  const std::string_view kind = GENERATE("nvp", "srbp");
  const auto table = make_contract_table(kind, 2);
  for (std::uint32_t n = 0; n < 300; ++n) {
    REQUIRE(table->send(0, 1, n, 30));
    table->on(1, [&](Transport& end) {
      end.probe([&](EndpointId, auto) { CHECK(end.send(id(0), make_message(id(1), id(0), n, 90))); }, 10);
    });
    CHECK(table->receive(0, 1, n, 90) == 1);
  }
}

TEST_CASE("messages and bytes are counted by link") {
  const std::string_view kind = GENERATE("nvp", "srbp");
  Counter sent, sent_bytes, received, received_bytes;
  const auto table =
      make_contract_table(kind, 2, {LinkHooks{}, LinkHooks{&sent, &sent_bytes, &received, &received_bytes}});
  for (std::uint32_t n = 0; n < 3; ++n) REQUIRE(table->send(0, 1, n, 100));
  REQUIRE(table->send(1, 0, 0, 7));
  CHECK(table->receive(0, 1, 0, 7) == 1);
  CHECK(sent.get() == 3);
  CHECK(sent_bytes.get() == 300);
  CHECK(received.get() == 1);
  CHECK(received_bytes.get() == 7);
  while (table->send(0, 1, 0, 8)) {
  }
  const auto full = sent.get();
  CHECK_FALSE(table->send(0, 1, 0, 8));
  CHECK(sent.get() == full);
}

TEST_CASE("messages sent before a peer was gone are delivered, and none is sent to it") {
  const std::string_view kind = GENERATE("nvp", "srbp");
  const auto table = make_contract_table(kind, 2);
  REQUIRE(table->send(0, 1, 0, 500));
  REQUIRE(table->send(1, 0, 0, 40'000));  // waits for room at 1
  table->on(1, [&](Transport& end) { end.peer_gone(id(0)); });
  CHECK(table->receive(1, 0, 0, 500) == 1);
  CHECK_FALSE(table->flush(1));
  CHECK_FALSE(table->send(1, 0, 1, 8));
}

}  // namespace ingot::test
