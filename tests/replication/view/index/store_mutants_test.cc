// Each rule of the store's structures is needed: without it kills, or readers on a weak machine, find the state wrong.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string_view>

#include "tests/replication/view/heap/left_out.h"
#include "tests/replication/view/index/store_run.h"

namespace ingot::test {
namespace {

// docs/simulation.md has the same rules, with the places that keep them.
constexpr std::string_view kRules[] = {
    "splits-begun-first", "splits-compared", "buckets-cleared", "numbers-tell",
    "before-compared",    "jumps-above",     "predecessors-kept", "frees-compacted",
    "tombstones-left",    "pieces-known",    "unlink-waits",    "unlinks-newest",
};

TEST_CASE("a store without one of its rules is found out") {
  check_rules_are_needed(kRules, [](std::uint64_t seed) { return run_store(drawn_options(seed)).failure; });
}

}  // namespace
}  // namespace ingot::test
