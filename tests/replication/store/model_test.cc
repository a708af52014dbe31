// The store against the model: equal results, byte for byte, for thousands of random requests.
#include <catch2/catch.hpp>

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
