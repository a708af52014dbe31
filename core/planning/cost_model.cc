#include "core/planning/cost_model.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "core/planning/limits.h"

namespace ingot::inline core_planning {
namespace {

using Report = absl::FunctionRef<void(std::string)>;

// Costs outside of these bounds are probably not in cycles: even between packages a message takes less than the
// maximum.
constexpr double kPlausibleCyclesMin = 2;
constexpr double kPlausibleCyclesMax = 100'000;
// The measured machines we know differ by up to 1.5 between the directions of one pair.
constexpr double kPlausibleAsymmetryMax = 4;
constexpr double kPlausibleFrequencyMinHz = 1e6;

std::string pair_name(const CostModel& model, int from, int to) {
  return absl::StrCat("core ", model.cores[from].id.value(), " to core ", model.cores[to].id.value());
}

void for_pairs(int cores, absl::FunctionRef<void(int, int)> visit) {
  for (int from = 0; from < cores; ++from) {
    for (int to = 0; to < cores; ++to) {
      if (from != to) visit(from, to);
    }
  }
}

// What makes one cost unusable; nothing if it is usable.
std::string cost_defect(double cycles) {
  if (std::isnan(cycles)) return "is missing";
  if (std::isinf(cycles)) return "is infinite";
  if (cycles < 0) return absl::StrCat("is negative (", cycles, ")");
  if (cycles == 0) return "is 0, but a message between two cores costs something";
  if (cycles > kMachineCyclesMax) return absl::StrCat("is ", cycles, " cycles, more than any message takes");
  return "";
}

void check_matrix(const CostModel& model, const CycleMatrix& matrix, const char* name, Report report) {
  if (matrix.cores() != model.size()) {
    return report(absl::StrCat(name, " is a matrix for ", matrix.cores(), " cores, but there are ", model.size()));
  }
  for (int core = 0; core < model.size(); ++core) {
    if (matrix.at(core, core) == 0) continue;
    report(absl::StrCat(name, " of core ", model.cores[core].id.value(),
                     " to itself is not 0; a core sends itself nothing"));
  }
  for_pairs(model.size(), [&](int from, int to) {
    const std::string defect = cost_defect(matrix.at(from, to));
    if (!defect.empty()) report(absl::StrCat(name, " from ", pair_name(model, from, to), " ", defect));
  });
}

// Calls `report` for each defect that makes a model unusable.
void check_usable(const CostModel& model, Report report) {
  if (model.cores.empty()) return report("the machine has no core; list at least two under \"cores\"");
  std::set<CoreId> seen;
  for (const MachineCore& core : model.cores) {
    if (!seen.insert(core.id).second) report(absl::StrCat("core ", core.id.value(), " is listed twice"));
  }
  check_matrix(model, model.send, "send", report);
  check_matrix(model, model.receive, "receive", report);
  if (!model.overlapped.empty()) check_matrix(model, model.overlapped, "overlapped", report);
  if (!model.round_trip.empty()) check_matrix(model, model.round_trip, "round_trip", report);
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void check_unit(const CostModel& model, Report report) {
  std::vector<double> edges;
  for_pairs(model.size(), [&](int from, int to) { edges.push_back(model.edge(from, to)); });
  if (edges.empty()) return;
  const double median = median_of(std::move(edges));
  if (median >= kPlausibleCyclesMin && median <= kPlausibleCyclesMax) return;
  report(absl::StrCat("half of all messages cost ", median, median < kPlausibleCyclesMin ? " or less" : " or more",
                   "; that cannot be cycles, so the unit is probably wrong"));
}

void check_frequency(const CostModel& model, Report report) {
  if (model.frequency_hz == 0 || model.frequency_hz >= kPlausibleFrequencyMinHz) return;
  report(absl::StrCat("frequency_hz is ", model.frequency_hz,
                      "; no core is that slow, so the unit is probably wrong: write ", "2.5 GHz as 2500000000"));
}

void check_directions(const CostModel& model, Report report) {
  for (int a = 0; a < model.size(); ++a) {
    for (int b = a + 1; b < model.size(); ++b) {
      const bool there = model.edge(a, b) > model.edge(b, a);
      const int from = there ? a : b, to = there ? b : a;
      const double ratio = model.edge(from, to) / model.edge(to, from);
      if (ratio <= kPlausibleAsymmetryMax) continue;
      report(absl::StrCat(pair_name(model, from, to), " costs ", std::round(ratio * 10) / 10,
                       " times as much as the way back; measure this pair again"));
    }
  }
}

// A batch there and back holds at least one message each way, and takes at most as long as all its messages in turn.
void check_round_trips(const CostModel& model, Report report) {
  if (model.round_trip.empty()) return;
  for_pairs(model.size(), [&](int from, int to) {
    const double both_ways = model.edge(from, to) + model.edge(to, from);
    const double ratio = model.round_trip.at(from, to) / both_ways;
    if (ratio >= 0.5 && ratio <= 2 * kMeasureBatchMessages) return;
    report(absl::StrCat("round_trip from ", pair_name(model, from, to), " is ", std::round(ratio * 100) / 100,
                     " times one message each way; it and the one-way costs cannot both be right"));
  });
}

}  // namespace

double CostModel::occupancy(int from, int to) const {
  const double apart = overlapped.empty() ? send.at(to, from) : overlapped.at(from, to);
  return std::min(apart, receive.at(from, to));
}

int CostModel::index_of(CoreId id) const {
  const auto found = std::find_if(cores.begin(), cores.end(), [id](const MachineCore& core) { return core.id == id; });
  return found == cores.end() ? -1 : static_cast<int>(found - cores.begin());
}

absl::Status validate(const CostModel& model) {
  std::string first;
  check_usable(model, [&](std::string defect) {
    if (first.empty()) first = std::move(defect);
  });
  return first.empty() ? absl::OkStatus() : absl::InvalidArgumentError(first);
}

std::vector<std::string> defects(const CostModel& model) {
  std::vector<std::string> result;
  const auto report = [&](std::string defect) { result.push_back(std::move(defect)); };
  if (model.size() == 1) report("the machine has only one core; a message takes two");
  check_usable(model, report);
  if (!result.empty()) return result;  // later checks would report the same defects again
  check_unit(model, report);
  check_frequency(model, report);
  check_directions(model, report);
  check_round_trips(model, report);
  return result;
}

absl::StatusOr<CostModel> restrict_to(const CostModel& model, std::span<const CoreId> group) {
  if (group.empty()) return absl::InvalidArgumentError("the group is empty; name at least one core");
  CostModel part;
  std::vector<int> indexes;
  for (const CoreId id : group) {
    const int index = model.index_of(id);
    if (index < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("the group names core ", id.value(), ", which ", model.name, " does not have"));
    }
    if (part.index_of(id) >= 0) {
      return absl::InvalidArgumentError(absl::StrCat("the group names core ", id.value(), " twice"));
    }
    indexes.push_back(index);
    part.cores.push_back(model.cores[index]);
  }
  const auto pick = [&](const CycleMatrix& from) {
    if (from.empty()) return CycleMatrix();
    CycleMatrix to(part.size());
    for_pairs(part.size(), [&](int i, int j) { to.set(i, j, from.at(indexes[i], indexes[j])); });
    return to;
  };
  part.name = model.name;
  part.frequency_hz = model.frequency_hz;
  part.send = pick(model.send);
  part.receive = pick(model.receive);
  part.overlapped = pick(model.overlapped);
  part.round_trip = pick(model.round_trip);
  return part;
}

Asymmetry asymmetry(const CostModel& model) {
  Asymmetry result;
  std::vector<double> ratios;
  for_pairs(model.size(), [&](int from, int to) {
    const double ratio = model.edge(from, to) / model.edge(to, from);
    if (ratio < 1 || (ratio == 1 && from > to)) return;
    ratios.push_back(ratio);
    if (result.from >= 0 && ratio <= result.most) return;
    result.most = ratio;
    result.from = from;
    result.to = to;
  });
  if (!ratios.empty()) result.median = median_of(std::move(ratios));
  return result;
}

}  // namespace ingot::core_planning
