// The store against the model: equal results, byte for byte, for thousands of random requests.
#include <catch2/catch.hpp>

#include <algorithm>

#include "core/prng.h"
#include "replication/store/kv_store.h"
#include "tests/replication/store/model.h"
#include "tests/replication/store/random_requests.h"
#include "tests/replication/store/text.h"
#include "tests/seeds.h"

namespace ingot::kv {
namespace {

// Runs one request on both; the results must be equal.
void run_on_both(KvStore& store, Model& model, const Request& request) {
  INFO("request " << to_json(request));
  const std::string expected = encode(model.run(request));
  const std::string bytes = encode(request);
  if (!is_mutating(request)) REQUIRE(store.query(bytes) == expected);
  const std::string actual = store.apply(Slot(0), bytes);
  INFO("model   " << to_json(*decode_result(expected)));
  INFO("store   " << to_json(*decode_result(actual)));
  REQUIRE(actual == expected);
  REQUIRE(store.revision() == model.revision());
  REQUIRE(store.compact_revision() == model.compacted());
  REQUIRE(store.live_keys() == static_cast<std::int64_t>(model.live_keys()));
  REQUIRE(store.digest() == store.compute_digest());
  REQUIRE(store.no_space() == model.no_space());
  REQUIRE(store.leases() == static_cast<std::int64_t>(model.leases()));
  const Model::Counted counted = model.counted();
  REQUIRE(store.counted() == CountedBytes{counted.live, counted.history});
}

// The keys are equal at every readable revision.
void compare_history(const KvStore& store, Model& model) {
  for (Revision revision = 1; revision <= model.revision(); ++revision) {
    RangeRequest everything;
    everything.key = everything.range_end = std::string(1, '\0');
    everything.revision = revision;
    REQUIRE(store.query(encode(Request(everything))) == encode(model.run(everything)));
  }
}

TEST_CASE("The store answers like a copy of everything per revision") {
  for (const std::uint64_t seed : testing::seeds(12)) {
    INFO("seed " << seed);
    RandomRequests random(seed);
    KvStore store;
    Model model;
    for (int i = 0; i < 1500; ++i) run_on_both(store, model, random.next(model.revision()));
    compare_history(store, model);
  }
}

// The alarm, disarmed now and then; to be disarmed, a compaction must often have come first.
Request next_at_the_limit(RandomRequests& random, Prng& rng, const Model& model) {
  if (model.no_space() && rng.below(20) == 0) return AlarmRequest{AlarmRequest::Action::kDeactivate};
  if (model.no_space() && rng.below(20) == 0 && model.compacted() < model.revision()) {
    const auto kept = static_cast<Revision>(rng.below(20));
    return CompactRequest{std::max(model.compacted() + 1, model.revision() - kept)};
  }
  return random.next_or_alarm(model.revision());
}

TEST_CASE("A store at its quota refuses what the model refuses, and counts the same bytes") {
  int alarms = 0;
  for (const std::uint64_t seed : testing::seeds(12)) {
    INFO("seed " << seed);
    RandomRequests random(seed);
    Prng rng(seed);
    const auto quota = static_cast<std::int64_t>(2000 + rng.below(20'000));
    KvStore store{Quota(quota)};
    Model model(quota);
    for (int i = 0; i < 1000; ++i) {
      const bool stood = model.no_space();
      run_on_both(store, model, next_at_the_limit(random, rng, model));
      alarms += model.no_space() && !stood;
      REQUIRE(store.counted().sum() <= quota + quota / 16);
      if (rng.below(40) != 0) continue;
      KvStore loaded{Quota(quota)};
      REQUIRE(loaded.load(store.save()).ok());
      REQUIRE(loaded.counted() == store.counted());
      REQUIRE(loaded.no_space() == store.no_space());
      REQUIRE(loaded.digest() == store.digest());
      store = std::move(loaded);
    }
    compare_history(store, model);
  }
  if (!testing::one_seed_only()) CHECK(alarms > 0);
}

TEST_CASE("The store's leases end, and take their keys with them, as the model's do") {
  std::int64_t ended = 0;
  for (const std::uint64_t seed : testing::seeds(12)) {
    INFO("seed " << seed);
    RandomRequests random(seed);
    Prng rng(seed);
    KvStore store;
    Model model;
    for (int i = 0; i < 1500; ++i) {
      run_on_both(store, model, rng.chance(0.6) ? random.lease() : random.next(model.revision()));
    }
    ended += store.leases_ended();
    compare_history(store, model);
  }
  if (!testing::one_seed_only()) CHECK(ended > 0);
}

TEST_CASE("A store loaded from a snapshot goes on like the one that saved it") {
  for (const std::uint64_t seed : testing::seeds(6)) {
    INFO("seed " << seed);
    RandomRequests random(seed);
    KvStore store;
    Model model;
    for (int round = 0; round < 10; ++round) {
      for (int i = 0; i < 80; ++i) run_on_both(store, model, random.next(model.revision()));
      KvStore loaded;
      loaded.apply(Slot(0), encode(Request(random.put())));  // the former content must be gone
      const std::string snapshot = store.save();
      REQUIRE(loaded.load(snapshot).ok());
      REQUIRE(loaded.save() == snapshot);
      REQUIRE(loaded.digest() == store.digest());
      store = std::move(loaded);
    }
    compare_history(store, model);
  }
}

}  // namespace
}  // namespace ingot::kv
