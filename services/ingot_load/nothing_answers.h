// The sentence about a server that does not answer.
#pragma once

#include <chrono>
#include <string>

#include "absl/status/status.h"

namespace ingot::load {

// UNAVAILABLE.
absl::Status nothing_answers(const std::string& endpoint, std::chrono::nanoseconds timeout);

}  // namespace ingot::load
