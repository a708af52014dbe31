// Each rule of the ordered tree is needed: without it kills, readers, or the checks of its nodes find the state wrong.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string_view>

#include "tests/replication/view/heap/left_out.h"
#include "tests/replication/view/index/tree_run.h"

namespace ingot::test {
namespace {

// docs/simulation.md has the same rules, with the places that keep them.
constexpr std::string_view kRules[] = {
    "leaf-stays",         "inner-copied",     "inner-retired",     "separators-retired", "missing-joined",
    "tags-follow-prefix", "tags-tell-little", "heads-tell-little", "prefix-compared",    "prefix-shortens",
};

TEST_CASE("an ordered tree without one of its rules is found out") {
  check_rules_are_needed(kRules, [](std::uint64_t seed) { return run_killed_tree(drawn_tree_options(seed)).failure; });
}

}  // namespace
}  // namespace ingot::test
