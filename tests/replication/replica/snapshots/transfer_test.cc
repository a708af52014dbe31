// A snapshot sent from peer to peer: despite losses, deaths, forgeries and cuts, the received file equals the sent one.
#include <catch2/catch.hpp>

#include <deque>
#include <functional>
#include <set>

#include "core/prng.h"
#include "replication/replica/snapshots/limits.h"
#include "replication/replica/snapshots/transfer.h"
#include "tests/seeds.h"

namespace ingot {
namespace {

constexpr std::uint64_t kSeed = 20261120;

std::string make_file(Slot slot, std::size_t bytes, std::uint64_t seed) {
  Prng rng(seed);
  std::string content(bytes, 0);
  for (char& c : content) c = static_cast<char>(rng());
  return snapshot_header(slot, content) + content;
}

std::shared_ptr<const SnapshotServer::File> offer_of(const std::string& file) {
  const auto bytes = std::make_shared<const std::string>(file);
  return std::make_shared<const SnapshotServer::File>(
      SnapshotServer::File{read_snapshot(*bytes)->name, *bytes, bytes});
}

// Servers and readers, and the messages between them, FIFO for each pair.
class Net {
 public:
  explicit Net(std::uint64_t seed) : rng_(seed) {}

  SnapshotServer& add_server(int id) { return servers_[EndpointId(static_cast<std::uint16_t>(id))]; }
  SnapshotReader& add_reader(int id, std::uint32_t incarnation = 2) {
    return readers_.emplace(EndpointId(static_cast<std::uint16_t>(id)), SnapshotReader(Incarnation(incarnation)))
        .first->second;
  }

  // Returns what arrives of a message; empty: lost.
  std::function<std::string(EndpointId from, EndpointId to, std::string)> fate;
  std::set<EndpointId> dead;
  std::map<EndpointId, std::uint64_t> sent_bytes;  // of parts, by server

  auto sender(EndpointId from) {
    return [this, from](EndpointId to, std::string message) {
      if (dead.contains(from) || dead.contains(to)) return;
      if (servers_.contains(from)) sent_bytes[from] += message.size();
      if (fate) message = fate(from, to, std::move(message));
      if (!message.empty()) under_way_[{from, to}].push_back(std::move(message));
    };
  }

  void start(int reader, Slot above, const std::vector<int>& peers) {
    const EndpointId self(static_cast<std::uint16_t>(reader));
    std::vector<EndpointId> ids;
    for (const int peer : peers) ids.emplace_back(static_cast<std::uint16_t>(peer));
    readers_.at(self).start(above, ids, sender(self));
  }

  void kill(int id) {
    const EndpointId gone(static_cast<std::uint16_t>(id));
    dead.insert(gone);
    for (auto& [self, reader] : readers_) {
      if (!dead.contains(self)) reader.peer_gone(gone, sender(self));
    }
    for (auto& [self, server] : servers_) server.peer_gone(gone);
  }

  // One round: each server sends a few parts, some messages arrive, and sometimes time passes.
  void round() {
    for (auto& [self, server] : servers_) {
      if (dead.contains(self)) continue;
      const int parts = server.send_parts([](EndpointId) { return true; }, sender(self));
      REQUIRE(parts <= kSnapshotPartsPerRound);
    }
    for (auto& [pair, messages] : under_way_) {
      for (std::uint64_t left = rng_.below(6); left > 0 && !messages.empty(); --left) {
        const std::string message = std::move(messages.front());
        messages.pop_front();
        deliver(pair.first, pair.second, message);
      }
      std::size_t bytes = 0;
      for (const std::string& message : messages) bytes += message.size();
      REQUIRE(bytes <= 2 * kSnapshotWindowBytes + 64 * 1024);  // of an aborted round, too, and headers
    }
    if (++rounds_ % 2 != 0) return;
    for (auto& [self, reader] : readers_) reader.tick(sender(self));
    for (auto& [self, server] : servers_) {
      if (!dead.contains(self)) server.tick(sender(self));
    }
  }

  bool run(const SnapshotReader& reader, int rounds_max = 100'000) {
    for (int i = 0; i < rounds_max && reader.active(); ++i) round();
    return reader.complete();
  }

 private:
  void deliver(EndpointId from, EndpointId to, const std::string& bytes) {
    if (dead.contains(from) || dead.contains(to)) return;
    const auto message = decode_snapshot_message(bytes);
    if (!message) return;
    if (const auto reader = readers_.find(to); reader != readers_.end()) {
      reader->second.receive(from, *message, sender(to));
    } else {
      servers_.at(to).receive(from, *message, applied, useful_from, sender(to));
    }
  }

 public:
  Slot applied{1000};
  Slot useful_from{0};

 private:
  Prng rng_;
  int rounds_ = 0;
  std::map<EndpointId, SnapshotServer> servers_;
  std::map<EndpointId, SnapshotReader> readers_;
  std::map<std::pair<EndpointId, EndpointId>, std::deque<std::string>> under_way_;
};

const EndpointId kServer(0);
const EndpointId kOther(1);

}  // namespace

TEST_CASE("a snapshot of several MiB arrives, in windows") {
  Net net(kSeed);
  const std::string file = make_file(Slot(7), GENERATE(1, 65'488, 5'000'000), 1);
  net.add_server(0).offer(offer_of(file), net.sender(kServer));
  SnapshotReader& reader = net.add_reader(2);
  net.start(2, Slot(3), {0});
  REQUIRE(net.run(reader));
  REQUIRE(reader.name().slot == Slot(7));
  REQUIRE(reader.take().bytes() == file);
  REQUIRE(reader.refused() == 0);
  REQUIRE_FALSE(reader.complete());
}

TEST_CASE("a peer makes a snapshot on request, and reports that it is busy meanwhile") {
  Net net(kSeed);
  SnapshotServer& server = net.add_server(0);
  SnapshotReader& reader = net.add_reader(2);
  net.start(2, Slot(3), {0});
  for (int i = 0; i < 4 * kSnapshotSilentTicks; ++i) net.round();
  REQUIRE(server.wanted());
  REQUIRE(reader.active());
  const std::string file = make_file(Slot(7), 100'000, 1);
  server.offer(offer_of(file), net.sender(kServer));
  REQUIRE(net.run(reader));
  REQUIRE(reader.take().bytes() == file);
}

TEST_CASE("a request beyond every peer's state is refused, and a snapshot that is too old is not offered") {
  Net net(kSeed);
  net.applied = Slot(7);
  SnapshotServer& server = net.add_server(0);
  server.offer(offer_of(make_file(Slot(7), 100, 1)), net.sender(kServer));
  SnapshotReader& reader = net.add_reader(2);
  net.start(2, Slot(7), {0});
  REQUIRE_FALSE(net.run(reader));
  net.applied = Slot(100'000);
  net.useful_from = Slot(90'000);
  net.start(2, Slot(3), {0});
  for (int i = 0; i < 50; ++i) net.round();
  REQUIRE(server.wanted());
  SECTION("a newer one is made") {
    server.offer(offer_of(make_file(Slot(99'000), 100, 1)), net.sender(kServer));
    REQUIRE(net.run(reader));
    REQUIRE(reader.name().slot == Slot(99'000));
  }
  SECTION("none can be made") {
    server.none(net.sender(kServer));
    REQUIRE_FALSE(net.run(reader));
    REQUIRE_FALSE(server.wanted());
  }
}

TEST_CASE("when the serving peer dies the next one goes on, from where the first was if it has the same file") {
  const bool same = GENERATE(true, false);
  Net net(kSeed);
  const std::string file = make_file(Slot(7), 3'000'000, 1);
  const std::string other = same ? file : make_file(Slot(9), 2'000'000, 2);
  net.add_server(0).offer(offer_of(file), net.sender(kServer));
  net.add_server(1).offer(offer_of(other), net.sender(kOther));
  SnapshotReader& reader = net.add_reader(2);
  net.start(2, Slot(3), {0, 1});
  while (net.sent_bytes[kServer] < 2'500'000) net.round();
  net.kill(0);
  REQUIRE(net.run(reader));
  REQUIRE(reader.take().bytes() == other);
  if (same) REQUIRE(net.sent_bytes[kOther] < 2'000'000);
}

TEST_CASE("a peer that falls silent is given up") {
  Net net(kSeed);
  const std::string file = make_file(Slot(7), 1'000'000, 1);
  net.add_server(0).offer(offer_of(file), net.sender(kServer));
  net.add_server(1).offer(offer_of(file), net.sender(kOther));
  int from_first = 0;
  net.fate = [&](EndpointId from, EndpointId, std::string message) {
    return from == kServer && ++from_first > 5 ? std::string() : message;
  };
  SnapshotReader& reader = net.add_reader(2);
  net.start(2, Slot(3), {0, 1});
  REQUIRE(net.run(reader));
  REQUIRE(reader.take().bytes() == file);
}

TEST_CASE("two joining replicas are served at once, in turns") {
  Net net(kSeed);
  const std::string file = make_file(Slot(7), 2'000'000, 1);
  SnapshotServer& server = net.add_server(0);
  server.offer(offer_of(file), net.sender(kServer));
  SnapshotReader& first = net.add_reader(2);
  SnapshotReader& second = net.add_reader(3);
  net.start(2, Slot(3), {0});
  net.start(3, Slot(0), {0});
  for (int i = 0; i < 5; ++i) net.round();
  server.offer(offer_of(make_file(Slot(8), 1000, 2)), net.sender(kServer));  // readers finish the file that they began
  REQUIRE(net.run(first));
  REQUIRE(net.run(second));
  REQUIRE(first.take().bytes() == file);
  REQUIRE(second.take().bytes() == file);
}

TEST_CASE("lost, repeated, altered and cut messages cost time only") {
  for (const std::uint64_t seed : testing::seeds(60)) {
    CAPTURE(seed);
    Prng rng(seed);
    Net net(seed);
    const std::string file = make_file(Slot(7), 1'000 + rng.below(2'000'000), seed);
    net.add_server(0).offer(offer_of(file), net.sender(kServer));
    net.add_server(1).offer(offer_of(rng.chance(0.5) ? file : make_file(Slot(8), 500'000, seed + 1)),
                            net.sender(kOther));
    std::uint64_t troubles = 30;  // after these, no more faults
    net.fate = [&](EndpointId, EndpointId, std::string message) {
      if (troubles == 0 || !rng.chance(0.2)) return message;
      --troubles;
      if (rng.chance(0.4)) return std::string();
      if (rng.chance(0.3)) return message.substr(0, rng.below(message.size()));
      message[8 + rng.below(message.size() - 8)] ^= static_cast<char>(1 + rng.below(255));
      return message;
    };
    SnapshotReader& reader = net.add_reader(2);
    for (int rounds = 0; !reader.complete(); ++rounds) {
      REQUIRE(rounds < 100'000);
      if (!reader.active()) net.start(2, Slot(3), {1, 0});  // all servers failed: it is still needed
      net.round();
    }
    const std::string arrived(reader.take().bytes());
    REQUIRE(read_snapshot(arrived).ok());
    REQUIRE((arrived == file || read_snapshot(arrived)->name.slot == Slot(8)));
  }
}

TEST_CASE("a file with a wrong content is refused, and the next peer asked") {
  Net net(kSeed);
  const std::string good = make_file(Slot(9), 300'000, 1);
  std::string bad = make_file(Slot(9), 300'000, 2);
  const auto served = std::make_shared<std::string>(bad);
  const auto name = read_snapshot(bad)->name;
  (*served)[200'000] ^= 1;
  net.add_server(0).offer(std::make_shared<const SnapshotServer::File>(SnapshotServer::File{name, *served, served}),
                          net.sender(kServer));
  net.add_server(1).offer(offer_of(good), net.sender(kOther));
  SnapshotReader& reader = net.add_reader(2);
  net.start(2, Slot(3), {0, 1});
  REQUIRE(net.run(reader));
  REQUIRE(reader.refused() > 0);
  REQUIRE(reader.take().bytes() == good);
}

TEST_CASE("a peer that answers nonsense is given up after its first message") {
  // Each of these would be accepted if one check were missing.
  const int lie = GENERATE(0, 1, 2, 3);
  CAPTURE(lie);
  Net net(kSeed);
  const std::string file = make_file(Slot(9), 300'000, 1);
  net.add_server(0);
  net.add_server(1).offer(offer_of(file), net.sender(kOther));
  SnapshotReader& reader = net.add_reader(2);
  net.start(2, Slot(3), {0, 1});
  SnapshotMessage part{.type = SnapshotMessageType::kPart, .incarnation = Incarnation(2), .round = 1,
                       .above = {}, .name = {Slot(9), 1000, 17}, .offset = 0, .data = "abc"};
  if (lie == 0) part.name.slot = Slot(3);        // older than the reader's state
  if (lie == 1) part.offset = 500;               // not the next offset
  if (lie == 2) part.name.bytes = 49;            // shorter than its part: does not decode
  if (lie == 3) part.incarnation = Incarnation(1);  // for another incarnation
  const std::string bytes = encode(part);
  const auto decoded = decode_snapshot_message(bytes);
  REQUIRE(decoded.has_value() == (lie != 2 || part.data.size() <= 49));
  if (decoded) reader.receive(kServer, *decoded, net.sender(EndpointId(2)));
  if (lie != 2) REQUIRE(reader.refused() == 1);
  REQUIRE(net.run(reader));
  REQUIRE(reader.take().bytes() == file);
}

TEST_CASE("old chunks, of an earlier round or another peer, are refused") {
  Net net(kSeed);
  const std::string file = make_file(Slot(9), 300'000, 1);
  net.add_server(0).offer(offer_of(file), net.sender(kServer));
  net.add_server(1).offer(offer_of(file), net.sender(kOther));
  std::string late;  // the first part, once more at the end
  net.fate = [&](EndpointId from, EndpointId, std::string message) {
    if (from == kServer && late.empty() && message.size() > 1000) late = message;
    return message;
  };
  SnapshotReader& reader = net.add_reader(2);
  net.start(2, Slot(3), {0, 1});
  while (late.empty()) net.round();
  net.kill(0);
  const std::uint64_t before = reader.refused();
  reader.receive(kServer, *decode_snapshot_message(late), net.sender(EndpointId(2)));
  reader.receive(kOther, *decode_snapshot_message(late), net.sender(EndpointId(2)));
  REQUIRE(reader.refused() == before + 2);
  REQUIRE(net.run(reader));
  REQUIRE(reader.take().bytes() == file);
}

TEST_CASE("a new incarnation of a reader is served anew, and its former one no more") {
  Net net(kSeed);
  const std::string file = make_file(Slot(9), 600'000, 1);
  SnapshotServer& server = net.add_server(0);
  server.offer(offer_of(file), net.sender(kServer));
  std::vector<SnapshotMessage> answers;
  std::deque<std::string> kept;
  const auto send = [&](EndpointId, std::string bytes) {
    kept.push_back(std::move(bytes));
    answers.push_back(*decode_snapshot_message(kept.back()));
  };
  SnapshotMessage ask;
  ask.type = SnapshotMessageType::kAsk;
  ask.incarnation = Incarnation(3);
  ask.round = 1;
  server.receive(EndpointId(2), ask, Slot(9), Slot(0), send);
  server.send_parts([](EndpointId) { return true; }, send);
  REQUIRE(answers.back().offset > 0);
  ask.incarnation = Incarnation(2);
  ask.round = 50;
  server.receive(EndpointId(2), ask, Slot(9), Slot(0), send);
  REQUIRE(server.refused() == 1);
  answers.clear();
  ask.incarnation = Incarnation(4);
  ask.round = 1;
  server.receive(EndpointId(2), ask, Slot(9), Slot(0), send);
  server.send_parts([](EndpointId) { return true; }, send);
  REQUIRE(answers.front().offset == 0);
  REQUIRE(answers.front().incarnation == Incarnation(4));
}

TEST_CASE("a snapshot's file is read whole or refused") {
  const std::string file = make_file(Slot(9), 1000, 1);
  REQUIRE(read_snapshot(file)->name.slot == Slot(9));
  for (std::size_t i = 0; i < file.size(); ++i) {
    std::string altered = file;
    altered[i] ^= 4;
    REQUIRE_FALSE(read_snapshot(altered).ok());
    REQUIRE_FALSE(read_snapshot(file.substr(0, i)).ok());
  }
  REQUIRE_FALSE(read_snapshot(file + '\0').ok());
}

}  // namespace ingot
