// JSON for the readers in core: never throws; every error is a sentence.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"

namespace ingot::inline core_planning {

// The value of a whole text. Errors: INVALID_ARGUMENT (not JSON, with the line; nested too deep; too long).
absl::StatusOr<nlohmann::json> parse_json(std::string_view text);

// A whole number from 0 to `max`; -1 if the value is anything else.
std::int64_t whole_number_or_minus_one(const nlohmann::json& value, std::int64_t max);

}  // namespace ingot::core_planning
