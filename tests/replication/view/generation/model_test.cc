// Generations as they are, beside the model: readers at the newest root and at older ones.
#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>

#include "tests/replication/view/generation/view_world.h"
#include "tests/seeds.h"

namespace ingot::test {
namespace {

TEST_CASE("readers of all roots that were not overtaken see what the model has") {
  std::uint64_t overtaken = 0;
  std::uint64_t reclaimed = 0;
  for (const std::uint64_t seed : testing::seeds(60)) {
    INFO("seed " << seed);
    Prng prng(seed);
    const GuardedMemory memory(kGenerationBytesMin);
    // Values that fill it now and then.
    ViewWorld world(seed, memory.bytes(), 20 + prng.below(600), prng.chance(0.5) ? 100 : 8000);
    if (!world.load()) continue;
    std::deque<ViewReader> readers;
    for (int i = 0; i < 300; ++i) {
      auto reader = ViewReader::open(memory.bytes());
      REQUIRE(reader.ok());
      REQUIRE(reader->begin() == ReadOutcome::kOk);
      CHECK(check_reads(*reader, world.model(), world.keys(), prng, 8, overtaken) == "");
      if (prng.chance(0.2)) readers.push_back(*reader);
      for (ViewReader& older : readers) {
        REQUIRE(check_reads(older, world.model(), world.keys(), prng, 3, overtaken) == "");
      }
      if (readers.size() > 5) readers.pop_front();
      if (!world.batch()) break;
    }
    reclaimed += world.mark();
  }
  if (testing::one_seed_only()) return;
  CHECK(overtaken > 0);
  CHECK(reclaimed > 0);
}

// A hundred thousand keys, so that the hash index grows and the ordered one has several levels.
TEST_CASE("many keys are found one by one, in order, and by number") {
  const GuardedMemory memory(std::size_t{64} << 20);
  auto created = GenerationWriter::create(memory.bytes(), {.seed = testing::drawn_seed()});
  REQUIRE(created.ok());
  GenerationWriter& writer = **created;
  constexpr ViewRevision kKeys = 100'000;
  const auto key_of = [](ViewRevision i) {
    std::string digits = std::to_string(i);
    return "/registry/pods/" + std::string(8 - digits.size(), '0') + digits;
  };
  for (ViewRevision i = 1; i <= kKeys; ++i) {
    const std::string key = key_of(i);
    REQUIRE(writer.apply({.key = key, .value = key, .revision = i, .created = i, .version = 1}).ok());
  }
  REQUIRE(writer.publish(kKeys, 0).ok());
  for (ViewRevision i = 3; i <= kKeys; i += 3) {
    REQUIRE(writer.apply({.key = key_of(i), .deleted = true, .revision = kKeys + i}).ok());
    if (i % 3000 == 0) REQUIRE(writer.publish(kKeys + i, static_cast<std::uint64_t>(i)).ok());
  }
  REQUIRE(writer.publish(3 * kKeys, 2 * kKeys).ok());
  CHECK(writer.keys() == kKeys - kKeys / 3);
  auto reader = ViewReader::open(memory.bytes());
  REQUIRE(reader.ok());
  REQUIRE(reader->begin() == ReadOutcome::kOk);
  ViewAnswer answer;
  for (ViewRevision i = 1; i <= kKeys; ++i) {
    answer.clear();
    REQUIRE(reader->get(key_of(i), answer) == ReadOutcome::kOk);
    REQUIRE(answer.size() == (i % 3 == 0 ? 0 : 1));
  }
  answer.clear();
  REQUIRE(reader->range({}, answer) == ReadOutcome::kOk);
  REQUIRE(answer.size() == writer.keys());
  CHECK(answer[0].key == key_of(1));
  CHECK(answer[answer.size() - 1].key == key_of(kKeys));
  std::uint64_t count = 0;
  REQUIRE(reader->count(key_of(10), key_of(10'000), count) == ReadOutcome::kOk);
  CHECK(count == 6660);
}

}  // namespace
}  // namespace ingot::test
