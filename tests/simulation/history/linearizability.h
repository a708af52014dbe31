// Linearizability of a history: is there an order of its operations, each between its call and its answer, in which one
// register per key would have given the same answers?
//
// The search of Wing and Gong (1993) with the memory of Lowe (2017): it tries the operations that no other one
// precedes, backtracks where the register contradicts, and never visits the same set of linearized operations with the
// same value twice. Keys are independent, so each is searched alone.
#pragma once

#include <string>

#include "tests/simulation/history/history.h"

namespace ingot::simulation {

// Empty if the history is linearizable; otherwise a sentence that names a key and the operations that cannot be placed.
// An unanswered operation may have happened at any time after its call, or never.
std::string find_linearizability_violation(const History& history);

}  // namespace ingot::simulation
