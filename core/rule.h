// Rules of the protocols, each named at the place that keeps it. docs/simulation.md has the list: which checker finds
// out that a rule is left out, and how soon.
#pragma once

#include <string_view>

namespace ingot::inline core {

// The rule that mutable libraries leave out in this thread; empty: none. Only the simulator sets it.
inline constinit thread_local std::string_view left_out;

}  // namespace ingot::core

// INGOT_RULE("name") is the constant true. In mutable libraries, which only tests link (ingot_rule_library in
// defs.bzl), it is false while that rule is left out.
#ifdef INGOT_MUTABLE
#define INGOT_CONSTANT_RULES false
#define INGOT_RULE(name) (::ingot::left_out != std::string_view(name))
#else
#define INGOT_CONSTANT_RULES true
#define INGOT_RULE(name) true
#endif
