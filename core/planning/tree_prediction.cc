#include "core/planning/tree_prediction.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace ingot::inline core_planning {

std::string_view name_of(Objective objective) {
  switch (objective) {
    case Objective::kBroadcast:
      return "broadcast";
    case Objective::kReduction:
      return "reduction";
    case Objective::kBarrier:
      return "barrier";
    case Objective::kThroughput:
      return "throughput";
  }
  INGOT_CHECK(false, "an objective outside its enum");
}

absl::StatusOr<Objective> parse_objective(std::string_view name) {
  for (const Objective objective : kObjectives) {
    if (name == name_of(objective)) return objective;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", std::string(name), "' is not an objective; use broadcast, reduction, barrier or throughput"));
}

double cost_of(const Prediction& prediction, Objective objective) {
  switch (objective) {
    case Objective::kBroadcast:
      return prediction.broadcast;
    case Objective::kReduction:
      return prediction.reduction;
    case Objective::kBarrier:
      return prediction.barrier;
    case Objective::kThroughput:
      return prediction.bottleneck;
  }
  INGOT_CHECK(false, "an objective outside its enum");
}

std::vector<double> broadcast_arrivals(const CostModel& model, const Tree& tree) {
  std::vector<double> arrived(tree.children.size(), 0.0);
  for (const int parent : preorder_of(tree)) {
    double sent = arrived[parent];
    for (const int child : tree.children[parent]) {
      sent += model.send.at(parent, child);
      arrived[child] = sent + model.receive.at(parent, child);
    }
  }
  return arrived;
}

double receive_all(std::vector<Arrival>& arrivals) {
  std::sort(arrivals.begin(), arrivals.end(), [](const Arrival& a, const Arrival& b) { return a.ready < b.ready; });
  double done = 0;
  for (const Arrival& arrival : arrivals) done = std::max(done, arrival.ready) + arrival.occupancy;
  return done;
}

std::vector<double> reduction_arrivals(const CostModel& model, const Tree& tree) {
  std::vector<double> arrived(tree.children.size(), 0.0);
  const std::vector<int> order = preorder_of(tree);
  for (auto parent = order.rbegin(); parent != order.rend(); ++parent) {
    std::vector<Arrival> arrivals;
    for (const int child : tree.children[*parent]) {
      arrivals.push_back(arrival_of(model, child, *parent, arrived[child]));
    }
    arrived[*parent] = receive_all(arrivals);
  }
  return arrived;
}

std::vector<double> busy_cycles(const CostModel& model, const Tree& tree) {
  std::vector<double> busy(tree.children.size(), 0.0);
  for (int parent = 0; parent < tree.size(); ++parent) {
    for (const int child : tree.children[parent]) {
      busy[parent] += model.send.at(parent, child);
      busy[child] += model.receive.at(parent, child);
    }
  }
  return busy;
}

std::vector<int> critical_path(const CostModel& model, const Tree& tree) {
  const std::vector<double> arrived = broadcast_arrivals(model, tree);
  const std::vector<int> parents = parents_of(tree);
  std::vector<int> path;
  const auto last = std::max_element(arrived.begin(), arrived.end());
  for (int core = static_cast<int>(last - arrived.begin()); core >= 0; core = parents[core]) path.push_back(core);
  std::reverse(path.begin(), path.end());
  return path;
}

Prediction predict(const CostModel& model, const Tree& tree) {
  const auto most = [](const std::vector<double>& cycles) { return *std::max_element(cycles.begin(), cycles.end()); };
  Prediction result;
  result.broadcast = most(broadcast_arrivals(model, tree));
  result.reduction = reduction_arrivals(model, tree)[tree.root];
  result.barrier = result.reduction + result.broadcast;
  result.agreement = result.broadcast + result.barrier;
  result.bottleneck = most(busy_cycles(model, tree));
  return result;
}

}  // namespace ingot::core_planning
