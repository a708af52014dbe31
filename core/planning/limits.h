// Bounds of machine files, tree files and planners, with their units, and what happens at them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::inline core_planning {

inline constexpr int kMachineCoresMax = 2048;  // cores of a machine file; more are refused
inline constexpr std::size_t kMachineFileBytesMax = 256 * 1024 * 1024;  // of a machine or tree file; more is refused
inline constexpr int kJsonDepthMax = 32;       // of a file that people write; deeper nesting is refused
inline constexpr double kMachineCyclesMax = 1e9;  // one message; a file that says more is refused
inline constexpr int kMeasureBatchMessages = 8;   // of one sample when costs are measured, as in the measured files
inline constexpr int kExactCoresMax = 12;         // the exact planner's work grows by 3^cores; more are refused
inline constexpr int kExactBarrierCoresMax = 7;   // it tries all cores^(cores - 1) trees for a barrier; likewise
// Trees that a planner tries before it stops, if it is given no other number: well under a second of work. On machines
// of many cores each takes longer.
inline constexpr int kPlanFewCores = 32;
inline constexpr std::int64_t kPlanEvaluationsFewCores = 600'000;
inline constexpr std::int64_t kPlanEvaluationsManyCores = 300'000;
inline constexpr int kPlanBudgetMs = 1000;  // of planning, unless the user says otherwise; the best so far is taken
inline constexpr int kPlanClockEvaluations = 64;  // between two looks at the clock

}  // namespace ingot::core_planning
