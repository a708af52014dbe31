// How long collectives take on a tree, from a machine's costs alone.
//
// broadcast   A core that has the message sends it to its children in order. A child has it after its parent's sends to
//             earlier children, its parent's send to it, and its own receive. The last core counts.
// reduction   A core that has its children's messages sends one to its parent. A receiver takes messages as they come.
//             Waiting for one message costs the whole `receive`, but most of that is waiting for a cache line, and the
//             lines of messages that have all arrived are waited for at the same time: each further one occupies the
//             receiver for CostModel::occupancy only. The root's last message counts.
// barrier     A reduction, then a broadcast.
// agreement   Three passes: a broadcast of the proposal, a reduction of the votes, a broadcast of the outcome.
// bottleneck  The time for which the busiest core is busy with one broadcast: one receive and its sends. Its inverse is
//             the rate of broadcasts that the tree sustains.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/planning/cost_model.h"
#include "core/planning/tree.h"

namespace ingot::inline core_planning {

// All times in cycles.
struct Prediction {
  double broadcast = 0;
  double reduction = 0;
  double barrier = 0;
  double agreement = 0;
  double bottleneck = 0;
  bool operator==(const Prediction&) const = default;
};

// The quantity that a planner minimizes.
enum class Objective : std::uint8_t { kBroadcast, kReduction, kBarrier, kThroughput };
inline constexpr Objective kObjectives[] = {Objective::kBroadcast, Objective::kReduction, Objective::kBarrier,
                                            Objective::kThroughput};

std::string_view name_of(Objective objective);  // "broadcast", "reduction", "barrier", "throughput"
absl::StatusOr<Objective> parse_objective(std::string_view name);

// The predicted cost under an objective; kThroughput uses the bottleneck.
double cost_of(const Prediction& prediction, Objective objective);

// REQUIRES: a right tree over all of the model's cores; for the figures below likewise.
Prediction predict(const CostModel& model, const Tree& tree);

// When each core has a broadcast message, in cycles after the root starts.
std::vector<double> broadcast_arrivals(const CostModel& model, const Tree& tree);

// When each core has its whole subtree's messages, in cycles after the leaves start.
std::vector<double> reduction_arrivals(const CostModel& model, const Tree& tree);

// How long each core is busy with one broadcast, in cycles.
std::vector<double> busy_cycles(const CostModel& model, const Tree& tree);

// The cores from the root to the one that has a broadcast last.
std::vector<int> critical_path(const CostModel& model, const Tree& tree);

// When an otherwise idle receiver has finished its messages, if message i cannot be finished before ready + occupancy
// and occupies the receiver for its occupancy, at its end. Sorts its argument.
struct Arrival {
  double ready = 0;  // when it would be finished if it were alone, minus its occupancy
  double occupancy = 0;
};
double receive_all(std::vector<Arrival>& arrivals);

// The arrival at `parent` of a message that `child` starts to send at `from_cycles`.
inline Arrival arrival_of(const CostModel& model, int child, int parent, double from_cycles) {
  const double occupancy = model.occupancy(child, parent);
  return {from_cycles + model.edge(child, parent) - occupancy, occupancy};
}

}  // namespace ingot::core_planning
