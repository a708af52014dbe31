// Each rule of the heap is needed: without it kills, or readers on a weak machine, find the state wrong.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string_view>

#include "tests/replication/view/heap/heap_run.h"
#include "tests/replication/view/heap/left_out.h"

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

TEST_CASE("a heap without one of its rules is found out") {
  check_rules_are_needed(kRules, [](std::uint64_t seed) { return run_heap(drawn_options(seed)).failure; });
}

}  // namespace
}  // namespace ingot::test
