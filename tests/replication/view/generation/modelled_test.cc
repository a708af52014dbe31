// Weak memory, interleavings and hostile bytes, on modelled memory.
#include <catch2/catch.hpp>

#include "tests/replication/view/generation/modelled_run.h"
#include "tests/seeds.h"

namespace ingot::test {
namespace {

TEST_CASE("no reader on a weak machine sees what was in no root") {
  for (const std::uint64_t seed : testing::seeds(1500)) {
    INFO("seed " << seed);
    REQUIRE(run_weak(seed) == "");
  }
}

// A range missed keys: a leaf's order came back to the same value between two looks at it.
TEST_CASE("a range whose leaf changes away and back at any of its loads misses no key") {
  for (const std::uint64_t seed : testing::seeds(20)) {
    INFO("seed " << seed);
    REQUIRE(run_interleaved(seed) == "");
  }
}

TEST_CASE("whatever loads return, readers stay inside and end") {
  for (const std::uint64_t seed : testing::seeds(2000)) {
    INFO("seed " << seed);
    REQUIRE(run_hostile(seed) == "");
  }
}

}  // namespace
}  // namespace ingot::test
