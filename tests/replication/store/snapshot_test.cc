// A store loads only what save wrote; otherwise its state is unchanged.
#include <catch2/catch.hpp>

#include "core/prng.h"
#include "tests/replication/store/helpers.h"
#include "tests/replication/store/random_requests.h"
#include "tests/seeds.h"

namespace ingot::kv {
namespace {

KvStore random_store(std::uint64_t seed, int requests) {
  KvStore store;
  RandomRequests random(seed);
  for (int i = 0; i < requests; ++i) run(store, random.next_or_alarm(store.revision()));
  return store;
}

TEST_CASE("A snapshot holds everything: the loaded store saves the same bytes") {
  for (const std::uint64_t seed : testing::seeds(10)) {
    INFO("seed " << seed);
    const KvStore store = random_store(seed, 400);
    KvStore loaded;
    REQUIRE(loaded.load(store.save()).ok());
    REQUIRE(loaded.save() == store.save());
    REQUIRE(loaded.digest() == store.digest());
    REQUIRE(loaded.compute_digest() == store.digest());
    REQUIRE(loaded.revision() == store.revision());
    REQUIRE(loaded.compact_revision() == store.compact_revision());
    REQUIRE(loaded.live_keys() == store.live_keys());
    REQUIRE(loaded.bytes() == store.bytes());
    REQUIRE(loaded.versions() == store.versions());
    REQUIRE(loaded.counted() == store.counted());
    REQUIRE(loaded.no_space() == store.no_space());
  }
}

TEST_CASE("Every flipped bit and every cut of a snapshot is refused") {
  const std::string snapshot = random_store(1, 40).save();
  KvStore store = random_store(2, 20);
  const std::string before = store.save();
  for (std::size_t i = 0; i < snapshot.size(); ++i) {
    std::string corrupt = snapshot;
    corrupt[i] ^= static_cast<char>(1 << (i % 8));
    REQUIRE_FALSE(store.load(corrupt).ok());  // the digest, at the latest, is wrong
    REQUIRE_FALSE(store.load(std::string_view(snapshot).substr(0, i)).ok());
  }
  REQUIRE_FALSE(store.load(snapshot + "x").ok());
  REQUIRE(store.save() == before);
  REQUIRE(store.load(snapshot).ok());
  REQUIRE(store.save() == snapshot);
}

}  // namespace
}  // namespace ingot::kv
