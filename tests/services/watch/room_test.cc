// Who has a turn for a large response, and for how long.
#include <catch2/catch.hpp>

#include <deque>
#include <string>
#include <vector>

#include "services/watch/room.h"
#include "services/watch/shares.h"

namespace ingot::watch {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kBeginNs = 1000 * kSecondNs;
constexpr std::size_t kMiB = 1024 * 1024;

// A client that has not read `pending` bytes, with a watch that waits.
class Client final : public WatchOutput {
 public:
  Client(Shares& shares, Room& room, const void* connection) : connection_(connection) {
    stream.holder = &shares.join(*this);
    shares.add(*stream.holder, Resource::kStreams, 1);
    room.stream_added(stream);
    stream.not_synced = 1;
  }

  void send(std::vector<std::string> pieces) override {
    for (const std::string& piece : pieces) pending += piece.size();
  }
  std::size_t pending_bytes() const override { return pending; }
  void tell_below(std::size_t bytes) override { told_below = bytes; }
  void resume() override {}
  const void* connection() const override { return connection_; }
  std::string peer() const override { return "somebody"; }
  void finish(const grpc::Status& /*status*/) override {}

  std::size_t pending = 0;
  std::size_t told_below = 0;
  WatchStream stream{*this};

 private:
  const void* const connection_;
};

struct Fixture {
  Client& client(int connection) { return clients.emplace_back(shares, room, &connections[connection]); }

  // Begins a turn with a response.
  void respond(Client& client, std::uint64_t now_ns) {
    REQUIRE(room.take_turn(client.stream, now_ns));
    client.pending += kMiB;
    room.settle(now_ns);
  }
  // So many clients of a connection each, which have turns.
  void respond_to(int number, std::uint64_t now_ns) {
    for (int i = 0; i < number; ++i) respond(client(i), now_ns);
  }
  Client& in_line(int connection, std::uint64_t now_ns) {
    Client& made = client(connection);
    REQUIRE_FALSE(room.take_turn(made.stream, now_ns));
    REQUIRE(made.stream.waits_for_turn);
    return made;
  }
  void read(Client& client, std::uint64_t now_ns) {
    client.pending = 0;
    room.end_turn(client.stream, now_ns);
  }

  char connections[16] = {};
  Shares shares;
  Room room;
  std::deque<Client> clients;
};

constexpr int kTurns = static_cast<int>(kTurnsMax);
constexpr std::uint64_t kStalledNs = kTurnStalledMs * 1'000'000;
constexpr std::uint64_t kTurnNs = kTurnMs * 1'000'000;

TEST_CASE("a turn granted to a stream that becomes full goes to the next in line") {
  Fixture f;
  f.respond_to(kTurns, kBeginNs);
  Client& full = f.in_line(kTurns, kBeginNs);
  Client& next = f.in_line(kTurns + 1, kBeginNs);
  f.read(f.clients[0], kBeginNs);
  REQUIRE(f.room.next_granted() == &full.stream);
  full.pending = f.room.share(full.stream);
  f.room.settle(kBeginNs + kStalledNs - 1);
  CHECK(full.stream.granted);
  CHECK(f.room.deadline_ns() <= kBeginNs + kStalledNs);
  f.room.settle(kBeginNs + kStalledNs);
  CHECK_FALSE(full.stream.granted);
  CHECK(full.told_below == f.room.share(full.stream));
  CHECK(f.room.next_granted() == &next.stream);
}

TEST_CASE("a turn that is granted and never begun goes to the next in line") {
  Fixture f;
  f.respond_to(kTurns, kBeginNs);
  Client& idle = f.in_line(kTurns, kBeginNs);
  Client& next = f.in_line(kTurns + 1, kBeginNs);
  f.read(f.clients[0], kBeginNs);
  REQUIRE(f.room.next_granted() == &idle.stream);
  f.room.settle(kBeginNs + kStalledNs);
  CHECK(idle.stream.granted);
  for (int i = 1; i < kTurns; ++i) f.clients[static_cast<std::size_t>(i)].pending -= kTurnBytesMin;
  CHECK(f.room.stalled(kBeginNs + kStalledNs) == nullptr);
  CHECK(f.room.deadline_ns() > kBeginNs + kStalledNs);  // or the loop would never sleep
  f.room.settle(kBeginNs + kTurnNs);
  CHECK_FALSE(idle.stream.granted);
  CHECK(f.room.next_granted() == &next.stream);
}

TEST_CASE("a full stream is passed by when its turn comes, and has its turn when it has room") {
  Fixture f;
  f.respond_to(kTurns, kBeginNs);
  Client& full = f.in_line(kTurns, kBeginNs);
  Client& next = f.in_line(kTurns + 1, kBeginNs);
  full.pending = f.room.share(full.stream);
  f.read(f.clients[0], kBeginNs);
  CHECK(f.room.next_granted() == &next.stream);
  CHECK_FALSE(full.stream.granted);
  CHECK_FALSE(full.stream.waits_for_turn);
  CHECK(full.told_below == f.room.share(full.stream));
  full.pending = 0;
  CHECK_FALSE(f.room.take_turn(full.stream, kBeginNs));
  f.read(f.clients[1], kBeginNs);
  CHECK(f.room.next_granted() == &full.stream);
}

TEST_CASE("a turn's clock runs from its begin, not from when others wait") {
  Fixture f;
  f.respond(f.client(0), kBeginNs);
  CHECK(f.room.stalled(kBeginNs + 5 * kSecondNs) == nullptr);  // nobody waits
  for (int i = 1; i < kTurns; ++i) f.respond(f.client(i), kBeginNs + 5 * kSecondNs);
  CHECK(f.room.stalled(kBeginNs + 5 * kSecondNs) == nullptr);
  f.in_line(kTurns, kBeginNs + 5 * kSecondNs);
  CHECK(f.room.deadline_ns() <= kBeginNs + 5 * kSecondNs);
  CHECK(f.room.stalled(kBeginNs + 5 * kSecondNs) == &f.clients[0].stream);
}

TEST_CASE("a turn of a client that takes little at a time ends after ten seconds, while others wait") {
  Fixture f;
  f.respond_to(kTurns, kBeginNs);
  f.in_line(kTurns, kBeginNs);
  std::uint64_t now_ns = kBeginNs;
  while (f.room.stalled(now_ns) == nullptr && now_ns < kBeginNs + 2 * kTurnNs) {
    now_ns += kStalledNs;
    for (int i = 0; i < kTurns; ++i) f.clients[static_cast<std::size_t>(i)].pending -= kTurnBytesMin;
  }
  CHECK(now_ns == kBeginNs + kTurnNs);
}

TEST_CASE("one connection's streams have half of the turns, and other connections' streams come before its next one") {
  Fixture f;
  f.respond(f.client(0), kBeginNs);
  f.respond(f.client(0), kBeginNs);
  for (int i = 0; i < 10; ++i) f.in_line(0, kBeginNs);
  f.respond(f.client(1), kBeginNs);
  f.respond(f.client(2), kBeginNs);
  Client& other = f.in_line(3, kBeginNs);
  f.read(f.clients[0], kBeginNs);
  CHECK(f.room.next_granted() == &other.stream);
  CHECK(f.room.next_granted() == nullptr);
}

TEST_CASE("one connection's streams do not make the shares of others' small") {
  Fixture f;
  for (int i = 0; i < 8192; ++i) f.client(0);
  Client& other = f.client(1);
  CHECK(f.room.share(other.stream) == kShareBytesMax);
  CHECK(f.room.share(f.clients[0].stream) == kShareBytesMin);
}

}  // namespace
}  // namespace ingot::watch
