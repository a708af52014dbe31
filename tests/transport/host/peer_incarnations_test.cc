// Endpoints die, restart and stop at random, and switch to each other's next incarnations: from each incarnation of a
// peer an endpoint receives a prefix of what it sent, in order and incarnation by incarnation; and in the end all can
// exchange messages.
#include "transport/host/peer_incarnations.h"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/check.h"
#include "core/enum_names.h"
#include "core/prng.h"
#include "transport/host/host_transport.h"

namespace ingot {
namespace {

struct Message {
  std::uint32_t sender_incarnation;
  std::uint32_t number;  // from 0, of its messages to this endpoint, across the receiver's incarnations
  std::uint32_t bytes;
};

class World {
 public:
  static constexpr int kEndpoints = 4;

  World(const std::string& kind, std::uint64_t seed) : kind_(kind), prng_(seed) {
    auto made = Fabric::create("test-lives", kEndpoints, inbox_bytes(*value_of<TransportKind>(kind), kEndpoints));
    INGOT_CHECK(made.ok());
    fabric_ = std::make_unique<Fabric>(*std::move(made));
    incarnations_.assign(kEndpoints, Incarnation(1));
    for (int id = 0; id < kEndpoints; ++id) ends_.push_back(open(id));
  }

  bool alive(int id) const { return ends_[id] != nullptr; }
  int random_endpoint() { return static_cast<int>(prng_.below(kEndpoints)); }
  Prng& prng() { return prng_; }

  void kill(int id) { ends_[id].reset(); }

  // Starts the next incarnations of several dead endpoints together, each with the others' new inboxes.
  void restart(const std::vector<int>& ids) {
    for (const int id : ids) {
      const auto fd = fabric_->renew_inbox(endpoint(id));
      INGOT_CHECK(fd.ok());
      incarnations_[id] = Incarnation(incarnations_[id].value() + 1);
      for (auto& end : ends_) {
        if (end != nullptr) end->words.push_back({endpoint(id), incarnations_[id], Descriptor(::dup(*fd))});
      }
    }
    for (const int id : ids) ends_[id] = open(id);
  }
  std::vector<int> dead() const {
    std::vector<int> ids;
    for (int id = 0; id < kEndpoints; ++id) {
      if (!alive(id)) ids.push_back(id);
    }
    return ids;
  }

  void set_running(int id, bool running) {
    if (alive(id)) ends_[id]->running = running;
  }

  // Reads one control message, if there is one; then does everything that a round of a loop does.
  void step(int id) {
    if (!alive(id) || !ends_[id]->running) return;
    End& end = *ends_[id];
    if (!end.words.empty()) {
      Word word = std::move(end.words.front());
      end.words.pop_front();
      auto inbox = end.fabric.map_inbox(word.inbox.get());
      INGOT_CHECK(inbox.ok());
      end.incarnations->announce({word.endpoint, word.incarnation, *std::move(inbox)});
    }
    end.transport->probe(
        [&](EndpointId from, std::span<const std::byte> bytes) { receive(end, from.value(), bytes); }, 8);
    if (end.incarnations->waiting()) {
      end.incarnations->poll(
          [&](EndpointId peer, Incarnation incarnation) { end.went_over[peer.value()] = incarnation.value(); });
    }
    end.transport->flush();
  }

  // False: the channel is full, or closed.
  bool send(int from, int to) {
    if (!alive(from) || !ends_[from]->running || from == to) return false;
    End& end = *ends_[from];
    const std::uint32_t bytes =
        static_cast<std::uint32_t>(sizeof(Message) + prng_.below(prng_.below(4) == 0 ? 3000 : 60));
    const Message head{incarnations_[from].value(), end.sent[to], bytes};
    std::vector<std::byte> message(bytes, static_cast<std::byte>(end.sent[to]));
    std::memcpy(message.data(), &head, sizeof head);
    if (!end.transport->send(endpoint(to), message)) return false;
    ++end.sent[to];
    return true;
  }

  int received(int to) const { return ends_[to]->received; }
  void run(int steps) {
    for (int i = 0; i < steps; ++i) step(random_endpoint());
  }

 private:
  struct Word {
    EndpointId endpoint;
    Incarnation incarnation;
    Descriptor inbox;
  };
  struct Heard {
    std::uint32_t incarnation = 0;
    std::uint32_t next = 0;
  };
  struct End {
    explicit End(Fabric own) : fabric(std::move(own)) {}
    Fabric fabric;
    std::unique_ptr<ChannelTransport> transport;
    std::unique_ptr<PeerIncarnations> incarnations;
    std::deque<Word> words;
    bool running = true;
    std::map<int, std::uint32_t> sent;
    std::map<int, Heard> heard;
    std::map<int, std::uint32_t> went_over;  // by peer: the incarnation switched to
    int received = 0;
  };

  static EndpointId endpoint(int id) { return EndpointId(static_cast<std::uint16_t>(id)); }

  std::unique_ptr<End> open(int id) {
    std::vector<int> descriptors;
    for (const int fd : fabric_->descriptors()) descriptors.push_back(::dup(fd));
    auto own = Fabric::attach(descriptors);
    INGOT_CHECK(own.ok());
    auto end = std::make_unique<End>(*std::move(own));
    std::vector<std::span<std::byte>> inboxes;
    for (int i = 0; i < kEndpoints; ++i) inboxes.push_back(end->fabric.inbox(endpoint(i)));
    end->transport = make_transport(*value_of<TransportKind>(kind_), inboxes, endpoint(id), end->fabric, {});
    end->incarnations = std::make_unique<PeerIncarnations>(end->fabric, *end->transport, incarnations_);
    return end;
  }

  // A new incarnation of the receiver may begin anywhere in a living sender's messages, but misses none after that.
  // on.
  void receive(End& end, int from, std::span<const std::byte> bytes) {
    Message head{};
    REQUIRE(bytes.size() >= sizeof head);
    std::memcpy(&head, bytes.data(), sizeof head);
    REQUIRE(head.bytes == bytes.size());
    REQUIRE(std::ranges::all_of(bytes.subspan(sizeof head),
                                [&](std::byte byte) { return byte == static_cast<std::byte>(head.number); }));
    Heard& heard = end.heard[from];
    const bool first_of_pair = heard.incarnation == 0;
    REQUIRE(head.sender_incarnation >= heard.incarnation);
    // All messages of an incarnation are delivered before its successor takes its place.
    if (end.went_over.contains(from)) REQUIRE(head.sender_incarnation == end.went_over[from]);
    if (head.sender_incarnation > heard.incarnation) {
      if (!first_of_pair) REQUIRE(head.number == 0);
      heard = {head.sender_incarnation, head.number};
    }
    REQUIRE(head.number == heard.next);
    ++heard.next;
    ++end.received;
  }

  const std::string kind_;
  Prng prng_;
  std::unique_ptr<Fabric> fabric_;  // the supervisor's
  std::vector<Incarnation> incarnations_;
  std::vector<std::unique_ptr<End>> ends_;
};

void check_everybody_talks(World& world) {
  for (int id = 0; id < World::kEndpoints; ++id) {
    world.set_running(id, true);
  }
  world.restart(world.dead());
  world.run(4000);
  for (int from = 0; from < World::kEndpoints; ++from) {
    for (int to = 0; to < World::kEndpoints; ++to) {
      if (from == to) continue;
      CAPTURE(from, to);
      const int before = world.received(to);
      REQUIRE(world.send(from, to));
      world.run(400);
      REQUIRE(world.received(to) == before + 1);
    }
  }
}

}  // namespace

TEST_CASE("incarnations follow one another at random, and all exchange messages") {
  const std::string kind = GENERATE("nvp", "srbp");
  const std::uint64_t seed = 20261123 + GENERATE(range(0, 40));
  CAPTURE(kind, seed);
  World world(kind, seed);
  for (int i = 0; i < 3000; ++i) {
    const int who = world.random_endpoint();
    const std::uint64_t what = world.prng().below(100);
    if (what < 45) {
      world.step(who);
    } else if (what < 90) {
      static_cast<void>(world.send(who, world.random_endpoint()));
    } else if (what < 92) {
      world.kill(who);
    } else if (what < 96) {
      world.restart(what < 94 && !world.alive(who) ? std::vector<int>{who} : world.dead());
    } else {
      world.set_running(who, what < 99);
    }
  }
  check_everybody_talks(world);
}

TEST_CASE("a stopped endpoint delays its own traffic only") {
  const std::string kind = GENERATE("nvp", "srbp");
  CAPTURE(kind);
  World world(kind, 1);
  world.set_running(3, false);
  for (int incarnations = 0; incarnations < 5; ++incarnations) {
    world.kill(0);
    world.restart({0});
    world.run(400);
    for (const int other : {1, 2}) {
      const int before = world.received(other);
      REQUIRE(world.send(0, other));
      world.run(200);
      REQUIRE(world.received(other) == before + 1);
    }
    REQUIRE_FALSE(world.send(0, 3));
  }
  check_everybody_talks(world);
}

}  // namespace ingot
