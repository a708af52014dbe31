// Translates operations of a history into requests to the real store, and the store's results into their answers.
#pragma once

#include <string>
#include <string_view>

#include "tests/simulation/history/history.h"

namespace ingot::simulation {

// A command of the store, or a query if the operation reads.
std::string encode_operation(const Operation& operation);

// Sets the fields of the answer. False: the result cannot answer this operation.
bool decode_answer(std::string_view result, Operation& operation);

// The number of the operation that a command carries out; 0 if it is not an operation of a history.
Value operation_of_command(std::string_view command);

}  // namespace ingot::simulation
