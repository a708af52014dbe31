// The operations of a history as requests to the real store, and its results as their answers.
#pragma once

#include <string>
#include <string_view>

#include "tests/simulation/history.h"

namespace ingot::simulation {

// As a command of the store, or a query if it reads.
std::string encode_operation(const Operation& operation);

// Sets what the answer says. False: the store cannot have meant this operation.
bool decode_answer(std::string_view result, Operation& operation);

// The number of the operation that a command carries out; 0 if it is not of ours.
Value operation_of_command(std::string_view command);

}  // namespace ingot::simulation
