// Each rule of the heap is needed: without it kills, or readers on a weak machine, find the state wrong.
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "core/rule.h"
#include "tests/replication/store/heap/heap_run.h"
#include "tests/seeds.h"

namespace ingot::test {
namespace {

// docs/simulation.md has the same rules, with the places that keep them.
constexpr std::string_view kRules[] = {
    "undo-first",      "words-release",   "entries-release",     "tag-release",         "batch-fence",
    "bitmaps-undone",  "two-cells",       "number-release",      "cells-checked",       "last-first",
    "incarnation-odd", "incarnation-new", "incarnation-release", "tags-are-new",        "reclaims-alone",
    "retired-waits",   "mark-first",      "pins-hold",           "odd-waits",           "mark-checked",
    "loads-acquire",   "odd-fence",       "incarnation-checked",
};
constexpr std::uint64_t kSeedsMax = 20'000;

struct LeftOut {
  explicit LeftOut(std::string_view rule) { left_out = rule; }
  ~LeftOut() { left_out = {}; }
};

TEST_CASE("a heap without one of its rules is found out") {
  const std::uint64_t first = testing::drawn_seed();
  for (const std::string_view rule : kRules) {
    const LeftOut without(rule);
    std::uint64_t seeds = 0;
    std::string failure;
    while (failure.empty() && seeds < kSeedsMax) failure = run_heap(drawn_options(first + seeds++)).failure;
    INFO(rule << ", from seed " << first);
    CHECK(failure != "");
    std::printf("%-20s %5d seeds: %.90s\n", std::string(rule).c_str(), static_cast<int>(seeds), failure.c_str());
  }
}

}  // namespace
}  // namespace ingot::test
