// Is there an order of a history's operations, each between its call and its answer, that a single register per key
// would have answered in the same way?
//
// The search of Wing and Gong (1993) with the memory of Lowe (2017): it tries the operations that no other one
// precedes,
// goes back where the register contradicts, and never looks twice at one set of linearized operations with one value.
// Keys are independent, so each is searched alone.
#pragma once

#include <string>

#include "tests/simulation/history.h"

namespace ingot::simulation {

// Empty if the history is linearizable; otherwise a sentence that names a key and the operations that cannot be placed.
// An unanswered operation may have happened at any time after its call, or never.
std::string find_linearizability_violation(const History& history);

}  // namespace ingot::simulation
