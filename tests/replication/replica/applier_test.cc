// Batches are applied, each command has its effect once, and replicas that applied the same slots have the same state.
#include <catch2/catch.hpp>

#include <map>

#include "core/prng.h"
#include "replication/replica/applier.h"
#include "replication/store/kv_store.h"
#include "tests/replication/store/helpers.h"
#include "tests/replication/store/random_requests.h"
#include "tests/seeds.h"

namespace ingot {
namespace {

using Status = Response::Status;

Request command(std::uint64_t client, std::uint64_t sequence, std::string_view payload, std::uint64_t below = 0) {
  Request request;
  request.client = client;
  request.sequence = sequence;
  request.acknowledged_below = below;
  request.responder = EndpointId(2);
  request.reply_to = EndpointId(3);
  request.payload = payload;
  return request;
}

struct Outcome {
  std::uint64_t sequence;
  Status status;
  std::string result;
};

std::vector<Outcome> apply(Applier& applier, const std::vector<Request>& commands) {
  std::string batch;
  for (const Request& request : commands) append_command(batch, request);
  std::vector<Outcome> outcomes;
  applier.apply(applier.applied(), batch, [&](const Applier::Applied& applied) {
    REQUIRE(applied.request.responder == EndpointId(2));
    REQUIRE(applied.request.reply_to == EndpointId(3));
    outcomes.push_back({applied.request.sequence, applied.status, std::string(applied.result)});
  });
  return outcomes;
}

std::string put(const std::string& key, const std::string& value) {
  return encode(kv::Request(kv::put_of(key, value)));
}

TEST_CASE("A retry gets the first answer and has no second effect") {
  kv::KvStore store;
  Applier applier(store);
  const std::string one = put("a", "1"), two = put("a", "2");
  const auto first = apply(applier, {command(1, 0, one), command(1, 1, two)});
  REQUIRE(first.size() == 2);
  REQUIRE(store.revision() == 3);
  const auto retry = apply(applier, {command(1, 0, one), command(2, 0, one), command(1, 1, two)});
  REQUIRE(store.revision() == 4);  // the other client's command is no repetition
  REQUIRE(retry[0].status == Status::kOk);
  REQUIRE(retry[0].result == first[0].result);
  REQUIRE(retry[2].result == first[1].result);
  REQUIRE(applier.applied() == Slot(2));
  REQUIRE(applier.applied_commands() == 3);
  REQUIRE(applier.duplicate_commands() == 2);

  const auto late = apply(applier, {command(1, 2, one, 2), command(1, 0, one), command(1, 1'000'000, one)});
  REQUIRE(late[0].status == Status::kOk);
  REQUIRE(late[1].status == Status::kResultGone);
  REQUIRE(late[2].status == Status::kBusy);
  REQUIRE(applier.refused_commands() == 1);
  REQUIRE(store.revision() == 5);
}

TEST_CASE("No-ops and malformed batches take their slot and change nothing else") {
  kv::KvStore store;
  Applier applier(store);
  const auto none = [](const Applier::Applied&) { FAIL("no command was in it"); };
  std::string cut;
  append_command(cut, command(1, 0, put("a", "1")));
  append_command(cut, command(1, 1, put("b", "1")));
  cut.pop_back();
  applier.apply(Slot(0), "", none);
  applier.apply(Slot(1), cut, none);
  REQUIRE(applier.applied() == Slot(2));
  REQUIRE(applier.malformed_batches() == 1);
  REQUIRE(store.revision() == 1);
}

TEST_CASE("A command that the state machine refuses has a result, too") {
  kv::KvStore store;
  Applier applier(store);
  const auto outcomes = apply(applier, {command(1, 0, "nonsense")});
  REQUIRE(outcomes[0].status == Status::kOk);
  REQUIRE(kv::decode_result(outcomes[0].result)->code == kv::Code::kMalformed);
}

// Either a repetition of a command from an earlier batch, or a new command.
struct Traffic {
  explicit Traffic(std::uint64_t seed) : rng(seed), requests(seed) {}

  std::string batch(kv::Revision newest) {
    std::string bytes;
    for (std::uint64_t left = rng.below(6); left > 0; --left) {
      const std::uint64_t client = rng.below(3);
      const bool retry = next[client] > 0 && rng.chance(0.3);
      const std::uint64_t sequence = retry ? rng.below(next[client]) : next[client]++;
      auto& payload = payloads[{client, sequence}];
      if (payload.empty()) payload = encode(requests.next(newest));
      append_command(bytes, command(client, sequence, payload, sequence > 8 ? sequence - 8 : 0));
    }
    return bytes;
  }

  Prng rng;
  kv::RandomRequests requests;
  std::map<std::uint64_t, std::uint64_t> next;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> payloads;
};

TEST_CASE("Replicas that applied the same slots have one digest, also one that started from a snapshot") {
  for (const std::uint64_t seed : testing::seeds(6)) {
    INFO("seed " << seed);
    Traffic traffic(seed);
    kv::KvStore store, other_store;
    Applier applier(store);
    auto other = std::make_unique<Applier>(other_store);
    std::vector<std::string> answers, other_answers;
    for (std::uint64_t slot = 0; slot < 300; ++slot) {
      const std::string batch = traffic.batch(store.revision());
      const std::uint64_t before = applier.digest();
      applier.apply(Slot(slot), batch, [&](const auto& a) { answers.emplace_back(a.result); });
      other->apply(Slot(slot), batch, [&](const auto& a) { other_answers.emplace_back(a.result); });
      REQUIRE(applier.digest() == other->digest());
      REQUIRE(applier.digest() != before);
      REQUIRE(answers == other_answers);
      if (slot % 40 != 39) continue;
      const std::string snapshot = applier.save();
      other_store = kv::KvStore();
      other = std::make_unique<Applier>(other_store);
      REQUIRE(other->load(snapshot).ok());
      REQUIRE(other->applied() == applier.applied());
      REQUIRE(other->save() == snapshot);
    }
    REQUIRE(applier.duplicate_commands() > 0);
  }
}

TEST_CASE("Slots that are applied in steps give the answers and digests of slots that are applied at once") {
  for (const std::uint64_t seed : testing::seeds(6)) {
    INFO("seed " << seed);
    Traffic traffic(seed);
    Prng rng(seed);
    kv::KvStore store, sliced_store;
    Applier applier(store), sliced(sliced_store);
    std::vector<std::string> answers, sliced_answers;
    int rests = 0;
    for (std::uint64_t slot = 0; slot < 200; ++slot) {
      const std::string batch = traffic.batch(store.revision());
      const std::uint64_t before = sliced.digest();
      applier.apply(Slot(slot), batch, [&](const auto& a) { answers.emplace_back(a.result); });
      const auto some = [&] {
        StepBudget steps(1 + static_cast<std::int64_t>(rng.below(6)));
        return sliced.apply_some(Slot(slot), batch, steps,
                                 [&](const auto& a) { sliced_answers.emplace_back(a.result); });
      };
      for (; !some(); ++rests) {
        REQUIRE(sliced.under_way());
        REQUIRE(sliced.applied() == Slot(slot));
        REQUIRE(sliced.digest() == before);
      }
      REQUIRE_FALSE(sliced.under_way());
      REQUIRE(sliced.digest() == applier.digest());
      REQUIRE(sliced_answers == answers);
    }
    REQUIRE(sliced.save() == applier.save());
    REQUIRE(rests > 0);
  }
}

TEST_CASE("A corrupt snapshot of a replica is refused and leaves it as it was") {
  kv::KvStore store, other_store;
  Applier applier(store), other(other_store);
  for (int i = 0; i < 10; ++i) apply(applier, {command(1, i, put(kv::numbered_key(i), "v"))});
  apply(other, {command(7, 7, put("other", "state"))});
  const std::string snapshot = applier.save(), before = other.save();
  for (std::size_t i = 0; i < snapshot.size(); ++i) {
    std::string corrupt = snapshot;
    corrupt[i] ^= static_cast<char>(1 << (i % 8));
    REQUIRE_FALSE(other.load(corrupt).ok());
    REQUIRE_FALSE(other.load(std::string_view(snapshot).substr(0, i)).ok());
  }
  REQUIRE(other.save() == before);
}

}  // namespace
}  // namespace ingot
