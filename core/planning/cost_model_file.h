// Machine files: a CostModel as JSON.
//
//   {"name": "two", "unit": "cycles", "frequency_hz": 2494000000,
//    "cores": [{"id": 0, "numa_node": 0, "package": 0}, {"id": 1, "numa_node": 0, "package": 0}],
//    "send": [[0, 63.65], [62.83, 0]],
//    "receive": [[0, 226], [225, 0]],
//    "overlapped": [[0, 60], [61, 0]],
//    "round_trip": [[0, 640], [640, 0]]}
//
// Row: sender, column: receiver, both in the order of "cores". "cores", "send" and "receive" are required, and each
// core's "id"; other absent values are unknown, or 0. Unknown keys are ignored.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/planning/cost_model.h"

namespace ingot::inline core_planning {

// The text of a machine file, complete or not: a missing or null cost is not a number in the model. Errors:
// INVALID_ARGUMENT with one sentence: not JSON, no list of cores, a matrix that is not square, another unit.
absl::StatusOr<CostModel> read_machine_draft(std::string_view text);

// The same for a complete file: a model that validate() accepts, with two cores at least.
absl::StatusOr<CostModel> read_machine(std::string_view text);

// Each row of a matrix is a line of the text; costs read back unchanged.
// REQUIRES: a model that validate() accepts.
std::string write_machine(const CostModel& model);

}  // namespace ingot::core_planning
