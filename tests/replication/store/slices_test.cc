// A store that carries out each command in small steps, against one that does so at once: equal results and states, and
// in between answers of the state before or after the command, never of a part of it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/prng.h"
#include "replication/store/limits.h"
#include "tests/replication/store/churn_requests.h"
#include "tests/replication/store/helpers.h"
#include "tests/replication/store/random_requests.h"
#include "tests/replication/store/text.h"
#include "tests/seeds.h"

namespace ingot::kv {
namespace {

Compare compare_of(std::string key, std::string range_end, CompareResult result, std::int64_t version) {
  Compare compare;
  compare.key = std::move(key);
  compare.range_end = std::move(range_end);
  compare.result = result;
  compare.number = version;
  return compare;
}

// Answers to requests for all that can be asked: everything, at the newest and at the oldest revision, the hash, a
// transaction that reads, and all events.
std::vector<std::string> answers_of(const KvStore& store, Revision oldest) {
  RangeRequest old = everything();
  old.revision = oldest;
  RangeRequest best = everything();
  best.sort_target = SortTarget::kMod;
  best.sort_order = SortOrder::kDescend;
  best.limit = 3;
  TxnRequest txn;
  txn.compare = {compare_of("key000001", std::string(1, '\0'), CompareResult::kEqual, 1)};
  txn.success = {best};
  txn.failure = {everything()};
  EventsRequest events;
  events.from.revision = std::max<Revision>(oldest, 0);
  events.bytes_max = kEventsBytesMax;
  events.prev_kv = true;
  events.ranges = {{std::string(1, '\0'), std::string(1, '\0')}};
  std::vector<std::string> answers;
  for (const Request& request : {Request(everything()), Request(old), Request(best), Request(HashRequest{}),
                                 Request(txn), Request(events), Request(AlarmRequest{})}) {
    answers.push_back(store.query(encode(request)));
  }
  answers.push_back(std::to_string(store.revision()) + " " + std::to_string(store.compact_revision()));
  return answers;
}

void require_equal(const KvStore& sliced, const KvStore& whole) {
  REQUIRE(sliced.digest() == whole.digest());
  REQUIRE(sliced.compute_digest() == whole.digest());
  REQUIRE(sliced.counted() == whole.counted());
  REQUIRE(sliced.held() == whole.held());
  REQUIRE(sliced.versions() == whole.versions());
  REQUIRE(sliced.bytes() == whole.bytes());
  REQUIRE(sliced.live_keys() == whole.live_keys());
  REQUIRE(sliced.revision() == whole.revision());
  REQUIRE(sliced.compact_revision() == whole.compact_revision());
  REQUIRE(sliced.no_space() == whole.no_space());
}

// Two stores and a drawn number of steps for each call of the one.
class Twins {
 public:
  Twins(std::uint64_t seed, Quota quota)
      : rng_(seed), steps_max_(1 + rng_.below(rng_.chance(0.7) ? 5 : 300)), whole_(quota), sliced_(quota) {}

  const KvStore& whole() const { return whole_; }
  int rests() const { return rests_; }  // calls that did not end a command

  void run(const Request& request) {
    INFO("request " << to_json(request));
    const std::string bytes = encode(request);
    const Revision oldest = whole_.compact_revision();
    const auto before = answers_of(whole_, oldest);
    const std::unique_ptr<StandingQuery> standing = stand();
    const std::string expected = whole_.apply(Slot(0), bytes);
    const auto after = answers_of(whole_, oldest);
    bool gone_over = false;
    std::optional<std::string> result;
    while (!(result = some(bytes))) {
      ++rests_;
      const auto answers = answers_of(sliced_, oldest);
      gone_over = gone_over || answers != before;
      REQUIRE(answers == (gone_over ? after : before));
      if (!gone_over) REQUIRE_FALSE(standing->look(false));
    }
    REQUIRE(*result == expected);
    REQUIRE(answers_of(sliced_, oldest) == after);
    require_equal(sliced_, whole_);
  }

  void require_equal_snapshots() const { REQUIRE(sliced_.save() == whole_.save()); }

 private:
  std::optional<std::string> some(const std::string& bytes) {
    StepBudget steps(static_cast<std::int64_t>(1 + rng_.below(steps_max_)));
    return sliced_.apply_some(Slot(0), bytes, steps);
  }

  // Waits for the next change.
  std::unique_ptr<StandingQuery> stand() {
    EventsRequest events;
    events.from.revision = sliced_.revision() + 1;
    events.known_compacted = sliced_.compact_revision();
    events.bytes_max = kEventsBytesMax;
    events.ranges = {{std::string(1, '\0'), std::string(1, '\0')}};
    return sliced_.stand(encode(Request(events)));
  }

  Prng rng_;
  const std::uint64_t steps_max_;
  KvStore whole_, sliced_;
  int rests_ = 0;
};

TEST_CASE("A store that rests within commands is never seen between two states, and ends as one that does not") {
  for (const std::uint64_t seed : testing::seeds(8)) {
    INFO("seed " << seed);
    Twins twins(seed, Quota(seed % 3 == 0 ? 300'000 : 0));
    ChurnRequests random(seed);
    for (int i = 0; i < 80; ++i) {
      INFO("command " << i);
      twins.run(random.next(twins.whole().revision(), twins.whole().compact_revision()));
    }
    twins.require_equal_snapshots();
    if (!testing::one_seed_only()) CHECK(twins.rests() > 0);
  }
}

TEST_CASE("It does so with requests of every kind, and at its quota") {
  for (const std::uint64_t seed : testing::seeds(8)) {
    INFO("seed " << seed);
    Twins twins(seed, Quota(seed % 2 == 0 ? 0 : 2000 + static_cast<std::int64_t>(seed % 10'000)));
    RandomRequests random(seed);
    for (int i = 0; i < 300; ++i) {
      INFO("command " << i);
      const bool disarm = twins.whole().no_space() && i % 20 == 0;
      twins.run(disarm ? Request(AlarmRequest{AlarmRequest::Action::kDeactivate})
                       : random.next_or_alarm(twins.whole().revision()));
    }
    twins.require_equal_snapshots();
  }
}

// Calls that a command takes, with so many steps each.
int calls_of(KvStore& store, const Request& request, std::int64_t steps_each) {
  const std::string bytes = encode(request);
  for (int calls = 1;; ++calls) {
    StepBudget steps(steps_each);
    if (store.apply_some(Slot(0), bytes, steps)) return calls;
  }
}

KvStore with_keys(int keys, Quota quota = Quota()) {
  KvStore store(quota);
  for (int i = 0; i < keys; ++i) run(store, put_of(numbered_key(i), "v"));
  return store;
}

TEST_CASE("The calls of a command are as many as its keys demand: to delete, to free, to undo and to read") {
  constexpr int kKeys = 1000, kSteps = 10, kCalls = kKeys / kSteps;
  const Request delete_all = delete_of("k", "l");
  SECTION("a delete") {
    KvStore store = with_keys(kKeys);
    REQUIRE(calls_of(store, delete_all, kSteps) >= kCalls);
    REQUIRE(store.live_keys() == 0);
  }
  SECTION("a delete that the quota refuses, and its undoing") {
    const std::int64_t counted = with_keys(kKeys).counted().sum();
    KvStore store = with_keys(kKeys, Quota(counted));
    const std::uint64_t digest = with_keys(kKeys, Quota(counted)).digest();
    const int calls = calls_of(store, delete_all, kSteps);
    REQUIRE(store.no_space());
    run(store, AlarmRequest{AlarmRequest::Action::kDeactivate});
    REQUIRE(store.digest() == digest);
    REQUIRE(store.live_keys() == kKeys);
    REQUIRE(calls > 2 * kCalls / Quota::kReserveShare);
  }
  SECTION("what a delete frees of a compacted history") {
    KvStore store = with_keys(kKeys);
    for (int i = 0; i < kKeys; ++i) run(store, put_of(numbered_key(i), "w"));
    run(store, CompactRequest{store.revision()});
    const std::int64_t versions = store.versions();
    REQUIRE(calls_of(store, delete_all, kSteps) > kCalls + kCalls / 2);
    REQUIRE(store.versions() < versions + kKeys / 2);
  }
  SECTION("ranges, counts and compares of a transaction") {
    KvStore store = with_keys(kKeys);
    RangeRequest count = range_of("k", "l"), sorted = count;
    count.count_only = true;
    sorted.sort_target = SortTarget::kValue;
    sorted.sort_order = SortOrder::kDescend;
    sorted.limit = 1;
    TxnRequest txn;
    txn.compare = {compare_of("k", "l", CompareResult::kGreater, 0)};
    txn.success = {count, sorted, put_of("z", "")};
    REQUIRE(calls_of(store, txn, kSteps) >= 3 * kCalls);
  }
}

// A transaction of reads only, whose ranges and compares walk over most keys.
TxnRequest drawn_reads(Prng& rng) {
  TxnRequest txn;
  RangeRequest sorted = everything(), count = everything();
  sorted.sort_target = SortTarget::kMod;
  sorted.sort_order = rng.chance(0.5) ? SortOrder::kAscend : SortOrder::kDescend;
  sorted.limit = static_cast<std::int64_t>(rng.below(10));
  count.count_only = true;
  txn.compare = {compare_of("key000001", std::string(1, '\0'), CompareResult::kLess, 2)};
  txn.success = {count, sorted};
  txn.failure = {sorted, count};
  if (rng.chance(0.3)) txn.success.emplace_back(std::make_shared<TxnRequest>(txn));
  return txn;
}

TEST_CASE("A transaction of reads that rests answers of one state, whatever commands and snapshots come in between") {
  int rests = 0;
  for (const std::uint64_t seed : testing::seeds(8)) {
    INFO("seed " << seed);
    Prng rng(seed);
    ChurnRequests random(seed);
    KvStore store;
    const auto next = [&] { return random.next(store.revision(), store.compact_revision()); };
    const std::uint64_t steps_max = 1 + rng.below(rng.chance(0.7) ? 5 : 300);
    for (int i = 0; i < 20; ++i) run(store, next());
    for (int read = 0; read < 30; ++read) {
      run(store, next());
      const std::string bytes = encode(Request(drawn_reads(rng)));
      const auto in_steps = store.query_in_steps(bytes);
      REQUIRE(in_steps != nullptr);
      std::vector<std::string> possible;  // what the states since then would have answered
      std::optional<std::string> answer;
      for (;; ++rests) {
        possible.push_back(store.query(bytes));
        StepBudget steps(static_cast<std::int64_t>(1 + rng.below(steps_max)));
        if ((answer = in_steps->go_on(steps))) break;
        if (rng.chance(0.5)) run(store, next());
        if (rng.chance(0.02)) REQUIRE(store.load(store.save()).ok());
      }
      const bool overtaken = decode_result(*answer)->code == Code::kCompacted;
      if (!overtaken) REQUIRE(std::count(possible.begin(), possible.end(), *answer) > 0);
    }
  }
  if (!testing::one_seed_only()) CHECK(rests > 0);
}

TEST_CASE("A transaction of reads begins anew only when a revision that it reads is compacted") {
  KvStore store;
  for (int i = 0; i < 50; ++i) run(store, put_of(numbered_key(i), "v"));
  const Revision began = store.revision();
  TxnRequest txn;
  txn.success = {range_of("k", "l")};
  const auto revision_of = [](const std::string& answer) { return decode_result(answer)->revision; };
  const auto in_steps = store.query_in_steps(encode(Request(txn)));
  StepBudget few(10);
  REQUIRE(!in_steps->go_on(few));
  for (int i = 0; i < 50; ++i) run(store, put_of(numbered_key(i), "w"));
  StepBudget rest;
  SECTION("one at the revision at which it began, or below, changes nothing") {
    run(store, CompactRequest{began - 1});
    run(store, CompactRequest{began});
    run(store, put_of("other", ""));  // frees, too
    CHECK(revision_of(*in_steps->go_on(rest)) == began);
  }
  SECTION("one above begins anew") {
    run(store, CompactRequest{began + 1});
    CHECK(revision_of(*in_steps->go_on(rest)) == store.revision());
  }
  SECTION("a range of an older revision keeps that one, too") {
    std::get<RangeRequest>(txn.success[0]).revision = began - 5;
    const auto older = store.query_in_steps(encode(Request(txn)));
    StepBudget steps(10);
    REQUIRE(!older->go_on(steps));
    run(store, CompactRequest{began - 4});
    CHECK(decode_result(*older->go_on(rest))->code == Code::kCompacted);
  }
}

TEST_CASE("Only a transaction that reads ranges, and writes nothing, is read in steps") {
  KvStore store;
  TxnRequest point, reads, writes;
  point.success = {range_of("k")};
  reads.failure = {range_of("k", "l")};
  writes.success = {range_of("k", "l"), put_of("k", "v")};
  REQUIRE(store.query_in_steps(encode(Request(reads))) != nullptr);
  for (const Request& other : {Request(point), Request(writes), Request(everything()), Request(HashRequest{})}) {
    REQUIRE(store.query_in_steps(encode(other)) == nullptr);
  }
  REQUIRE(store.query_in_steps("") == nullptr);
  REQUIRE(store.query_in_steps("nonsense") == nullptr);
}

// It was looked at to its end before it was refused.
TEST_CASE("A range of a transaction that is too long for an answer ends where that shows") {
  KvStore store;
  for (int i = 0; i < 40; ++i) run(store, put_of(numbered_key(i), std::string(kResultBytesMax / 4, 'v')));
  TxnRequest txn;
  txn.success = {range_of("k", "l"), put_of("z", "")};
  StepBudget steps(10);
  const auto result = store.apply_some(Slot(0), encode(Request(txn)), steps);
  REQUIRE(result);
  REQUIRE(decode_result(*result)->code == Code::kResultTooLarge);
}

}  // namespace
}  // namespace ingot::kv
