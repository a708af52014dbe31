// Whether each rule of generations is needed: without it, one of many seeds must fail (docs/simulation.md).
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "tests/replication/view/generation/left_out.h"
#include "tests/replication/view/generation/modelled_run.h"

namespace ingot::test {
namespace {

constexpr std::string_view kRules[] = {
    "number-release", "cell-fence",     "cells-checked",   "links-release",        "loads-acquire",  "mark-first",
    "mark-fence",     "mark-checked",   "retired-waits",   "nodes-copied",         "heads-tell-little",
    "prefix-shortens", "equal-heads-compared", "revisions-compared", "revision-first", "revision-fence",
    "log-forgets",
};

TEST_CASE("each rule of a generation is needed") {
  check_rules_are_needed(kRules, [](std::uint64_t seed) {
    std::string wrong = run_weak(seed);
    if (wrong.empty() && seed % 16 == 0) wrong = run_interleaved(seed);
    return wrong;
  });
}

}  // namespace
}  // namespace ingot::test
