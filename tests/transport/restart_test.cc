// A peer dies and its next incarnation starts: peer_gone, peer_settled, an inbox filled with zeros, peer_back.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tests/transport/message_pattern.h"
#include "transport/channel_endpoint.h"
#include "transport/host/host_memory.h"
#include "transport/nvp_channel.h"
#include "transport/srbp_channel.h"

using namespace ingot;
using namespace ingot::test;

namespace {

using Nvp = NvpChannel<HostMemory>;
using Srbp = SrbpChannel<HostMemory>;

template <typename Channel>
struct Group {
  static constexpr int kEndpoints = 3;
  static constexpr typename Channel::Layout kLayout{kEndpoints, 8};
  using End = ChannelEndpoint<Channel>;

  Group() {
    for (auto& inbox : memory) inboxes.push_back(inbox.bytes);
    for (int i = 0; i < kEndpoints; ++i) ends.push_back(open(i));
  }
  std::unique_ptr<End> open(int self) {
    const EndpointId id(static_cast<std::uint16_t>(self));
    return std::make_unique<End>(Channel(HostMemory(id, inboxes), kLayout), nullptr, std::vector<LinkHooks>{});
  }

  static EndpointId id(int endpoint) { return EndpointId(static_cast<std::uint16_t>(endpoint)); }

  bool send(int from, int to, std::uint32_t n, std::size_t bytes) {
    return ends[from]->send(id(to), make_message(id(from), id(to), n, bytes));
  }
  int receive(int to, int from, std::uint32_t n, std::size_t bytes) {
    return ends[to]->probe(
        [&](EndpointId sender, std::span<const std::byte> message) {
          CHECK(sender == id(from));
          CHECK(check_message(message, sender, id(to), n++, bytes) == "");
        },
        100);
  }

  // The steps of the others and the supervisor when `dead` is dead.
  void restart(int dead) {
    for (int i = 0; i < kEndpoints; ++i) {
      if (i == dead) continue;
      for (int tries = 0; !ends[i]->peer_settled(id(dead)); ++tries) {
        REQUIRE(tries < 10);
        ends[i]->probe([](EndpointId, auto) { FAIL("nothing complete was left"); }, 100);
      }
    }
    ends[dead].reset();
    std::ranges::fill(memory[dead].bytes, std::byte{0});
    for (int i = 0; i < kEndpoints; ++i) {
      if (i != dead) ends[i]->peer_back(id(dead));
    }
    ends[dead] = open(dead);
  }

  struct alignas(64) Inbox {
    std::array<std::byte, kLayout.inbox_lines(64) * 64> bytes{};
  };
  std::array<Inbox, kEndpoints> memory;
  std::vector<std::span<std::byte>> inboxes;
  std::vector<std::unique_ptr<End>> ends;
};

}  // namespace

TEMPLATE_TEST_CASE("a new incarnation starts with empty channels, over and over", "", Nvp, Srbp) {
  Group<TestType> group;
  for (std::uint32_t incarnation = 0; incarnation < 200; ++incarnation) {
    const int dead = static_cast<int>(incarnation % 2) + 1;
    // It dies with one message sent, another half sent, and messages in flight to it.
    REQUIRE(group.send(dead, 0, incarnation, 100));
    REQUIRE(group.send(dead, 0, 1, 5000));
    REQUIRE(group.send(0, dead, incarnation, 5000));
    for (int peer = 0; peer < 3; ++peer) {
      if (peer != dead) group.ends[peer]->peer_gone(group.id(dead));
    }
    CHECK_FALSE(group.send(0, dead, 0, 8));
    CHECK(group.receive(0, dead, incarnation, 100) == 1);
    group.restart(dead);
    REQUIRE(group.send(dead, 0, incarnation, 300));
    REQUIRE(group.send(0, dead, incarnation, 8));
    REQUIRE(group.send(dead, 3 - dead, incarnation, 60));
    CHECK(group.receive(0, dead, incarnation, 300) == 1);
    CHECK(group.receive(dead, 0, incarnation, 8) == 1);
    CHECK(group.receive(3 - dead, dead, incarnation, 60) == 1);
  }
}
