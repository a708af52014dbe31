// Sessions against a model that remembers all requests and searches them each time.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "core/prng.h"
#include "replication/replica/limits.h"
#include "replication/replica/sessions.h"
#include "tests/seeds.h"

namespace ingot {
namespace {

using Verdict = Sessions::Verdict;

class Model {
 public:
  explicit Model(Sessions::Limits limits) : limits_(limits) {}

  Verdict begin(std::uint64_t client, std::uint64_t sequence, std::uint64_t acknowledged_below) {
    if (!clients_.contains(client) && clients_.size() == limits_.clients) clients_.erase(longest_silent());
    Client& c = clients_[client];
    c.last_use = ++uses_;
    c.floor = std::max(c.floor, acknowledged_below);
    c.done.erase(c.done.begin(), c.done.lower_bound(c.floor));
    if (sequence < c.floor) return Verdict::kStale;
    if (sequence - c.floor >= limits_.window) return Verdict::kOutsideWindow;
    if (!c.done.contains(sequence)) return Verdict::kApply;
    return c.done[sequence] ? Verdict::kDuplicate : Verdict::kResultGone;
  }

  void record(std::uint64_t client, std::uint64_t sequence, const std::string& result) {
    clients_[client].done[sequence] = result;
    while (bytes(clients_[client]) > limits_.client_bytes) drop_oldest(clients_[client]);
    while (bytes() > limits_.bytes) {
      std::vector<Client*> by_use;
      for (auto& [id, c] : clients_) by_use.push_back(&c);
      std::sort(by_use.begin(), by_use.end(), [](auto* a, auto* b) { return a->last_use < b->last_use; });
      for (Client* c : by_use) {
        if (drop_oldest(*c)) break;
      }
    }
  }

  const std::string& result(std::uint64_t client, std::uint64_t sequence) { return *clients_[client].done[sequence]; }
  std::size_t clients() const { return clients_.size(); }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& [id, c] : clients_) sum += bytes(c);
    return sum;
  }

 private:
  struct Client {
    std::uint64_t floor = 0, last_use = 0;
    std::map<std::uint64_t, std::optional<std::string>> done;  // without a value: the result was dropped
  };

  static std::size_t bytes(const Client& c) {
    std::size_t sum = 0;
    for (const auto& [sequence, result] : c.done) sum += result ? result->size() : 0;
    return sum;
  }
  static bool drop_oldest(Client& c) {
    for (auto& [sequence, result] : c.done) {
      if (!result) continue;
      result.reset();
      return true;
    }
    return false;
  }
  std::uint64_t longest_silent() const {
    return std::min_element(clients_.begin(), clients_.end(), [](const auto& a, const auto& b) {
             return a.second.last_use < b.second.last_use;
           })->first;
  }

  Sessions::Limits limits_;
  std::map<std::uint64_t, Client> clients_;
  std::uint64_t uses_ = 0;
};

// One random command of one of a few clients: new, repeated, late, or far ahead.
struct Command {
  std::uint64_t client, sequence, acknowledged_below;
};

Command random_command(Prng& rng, std::map<std::uint64_t, std::uint64_t>& floors) {
  const std::uint64_t client = rng.below(8);
  std::uint64_t& floor = floors[client];
  if (rng.chance(0.2)) floor += rng.below(4);
  std::uint64_t sequence = floor + rng.below(rng.chance(0.05) ? 40 : 12);
  if (rng.chance(0.1)) sequence -= std::min<std::uint64_t>(sequence, rng.below(6));
  const std::uint64_t behind = rng.chance(0.2) ? std::min<std::uint64_t>(floor, rng.below(5)) : 0;
  return {client, sequence, floor - behind};
}

constexpr Sessions::Limits kSmall{.clients = 5, .window = 16, .client_bytes = 60, .bytes = 150};

TEST_CASE("Sessions decide like a model that remembers everything") {
  for (const std::uint64_t seed : testing::seeds(20)) {
    INFO("seed " << seed);
    Prng rng(seed);
    Sessions sessions(kSmall);
    Model model(kSmall);
    std::map<std::uint64_t, std::uint64_t> floors;
    std::map<Verdict, int> seen;
    for (int i = 0; i < 3000; ++i) {
      const Command c = random_command(rng, floors);
      INFO("step " << i << ": client " << c.client << " sequence " << c.sequence << " below " << c.acknowledged_below);
      const Verdict expected = model.begin(c.client, c.sequence, c.acknowledged_below);
      const Sessions::Answer answer = sessions.begin(c.client, c.sequence, c.acknowledged_below);
      REQUIRE(static_cast<int>(answer.verdict) == static_cast<int>(expected));
      ++seen[expected];
      if (expected == Verdict::kDuplicate) REQUIRE(answer.result == model.result(c.client, c.sequence));
      if (expected == Verdict::kApply) {
        const std::string result(rng.below(rng.chance(0.2) ? 32 : 20), static_cast<char>('a' + rng.below(26)));
        model.record(c.client, c.sequence, result);
        sessions.record(c.client, c.sequence, result);
      }
      REQUIRE(sessions.clients() == model.clients());
      REQUIRE(sessions.result_bytes() == model.bytes());
      REQUIRE(sessions.digest() == sessions.compute_digest());
    }
    for (const Verdict verdict : {Verdict::kApply, Verdict::kDuplicate, Verdict::kResultGone, Verdict::kStale,
                                  Verdict::kOutsideWindow}) {
      REQUIRE(seen[verdict] > 0);
    }
  }
}

TEST_CASE("Loaded sessions go on like those that were saved") {
  for (const std::uint64_t seed : testing::seeds(10)) {
    INFO("seed " << seed);
    Prng rng(seed);
    Sessions sessions(kSmall), loaded(kSmall);
    std::map<std::uint64_t, std::uint64_t> floors;
    for (int i = 0; i < 500; ++i) {
      const Command c = random_command(rng, floors);
      const Sessions::Answer answer = sessions.begin(c.client, c.sequence, c.acknowledged_below);
      if (i > 0) {
        const Sessions::Answer same = loaded.begin(c.client, c.sequence, c.acknowledged_below);
        REQUIRE(static_cast<int>(same.verdict) == static_cast<int>(answer.verdict));
        REQUIRE(same.result == answer.result);
      }
      if (answer.verdict == Verdict::kApply) {
        const std::string result(rng.below(20), 'r');
        sessions.record(c.client, c.sequence, result);
        if (i > 0) loaded.record(c.client, c.sequence, result);
      }
      if (i > 0 && rng.below(20) != 0) continue;
      WireWriter out;
      sessions.save(out);
      WireReader in(out.view());
      loaded = Sessions::load(in, kSmall);
      REQUIRE(in.ok());
      REQUIRE(loaded.digest() == sessions.digest());
      REQUIRE(loaded.compute_digest() == sessions.digest());
      WireWriter again;
      loaded.save(again);
      REQUIRE(again.view() == out.view());
    }
  }
}

TEST_CASE("Saved sessions that are cut do not load, and hostile ones do no harm") {
  Prng rng(1);
  Sessions sessions(kSmall);
  std::map<std::uint64_t, std::uint64_t> floors;
  for (int i = 0; i < 200; ++i) {
    const Command c = random_command(rng, floors);
    if (sessions.begin(c.client, c.sequence, c.acknowledged_below).verdict == Verdict::kApply) {
      sessions.record(c.client, c.sequence, "result");
    }
  }
  WireWriter out;
  sessions.save(out);
  for (std::size_t length = 0; length < out.size(); ++length) {
    WireReader in(std::string_view(out.view()).substr(0, length));
    Sessions::load(in, kSmall);
    REQUIRE_FALSE(in.ok());
  }
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = out.view();
    for (std::uint64_t left = 1 + rng.below(3); left > 0; --left) {
      bytes[rng.below(bytes.size())] = static_cast<char>(rng.below(256));
    }
    WireReader in(bytes);
    Sessions loaded = Sessions::load(in, kSmall);
    if (!in.ok()) continue;
    REQUIRE(loaded.digest() == loaded.compute_digest());
    if (loaded.begin(3, 5, 0).verdict == Verdict::kApply) loaded.record(3, 5, std::string(200, 'r'));
    REQUIRE(loaded.result_bytes() <= kSmall.bytes);
  }
}

TEST_CASE("With the real limits a client may have its whole window outstanding, in any order") {
  Sessions sessions;
  for (std::uint64_t i = kSessionWindow; i-- > 0;) {
    REQUIRE(sessions.begin(1, i, 0).verdict == Verdict::kApply);
    sessions.record(1, i, std::to_string(i));
  }
  REQUIRE(sessions.begin(1, kSessionWindow, 0).verdict == Verdict::kOutsideWindow);
  REQUIRE(sessions.begin(1, 77, 0).result == "77");
  REQUIRE(sessions.begin(1, kSessionWindow, 1).verdict == Verdict::kApply);
  REQUIRE(sessions.begin(1, 0, 0).verdict == Verdict::kStale);
}

}  // namespace
}  // namespace ingot
