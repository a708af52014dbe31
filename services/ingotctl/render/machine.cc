#include "services/ingotctl/render/machine.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "services/cli/table.h"

namespace ingot::inline services_ingotctl_render {
namespace {

constexpr const char* kDistances[] = {"same NUMA node", "same package", "other package"};

struct Spread {
  double least = 0, median = 0, most = 0;
};

struct DistanceClass {
  const char* name;
  std::vector<double> send, receive;
};

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values.front(), values[values.size() / 2], values.back()};
}

std::vector<DistanceClass> classes_of(const CostModel& model) {
  std::array<DistanceClass, std::size(kDistances)> classes;
  for (std::size_t i = 0; i < classes.size(); ++i) classes[i].name = kDistances[i];
  for (int from = 0; from < model.size(); ++from) {
    for (int to = 0; to < model.size(); ++to) {
      if (from == to) continue;
      const MachineCore &a = model.cores[from], &b = model.cores[to];
      DistanceClass& of = classes[a.package != b.package ? 2 : a.numa_node != b.numa_node ? 1 : 0];
      of.send.push_back(model.send.at(from, to));
      of.receive.push_back(model.receive.at(from, to));
    }
  }
  std::vector<DistanceClass> result;
  for (DistanceClass& of : classes) {
    if (!of.send.empty()) result.push_back(std::move(of));
  }
  return result;
}

template <typename Key>
std::size_t count_distinct(const CostModel& model, Key key) {
  std::set<int> seen;
  for (const MachineCore& core : model.cores) seen.insert(key(core));
  return seen.size();
}

std::size_t packages_of(const CostModel& model) {
  return count_distinct(model, [](const MachineCore& core) { return core.package; });
}
std::size_t numa_nodes_of(const CostModel& model) {
  return count_distinct(model, [](const MachineCore& core) { return core.numa_node; });
}

std::string text_of(const Spread& spread) {
  return absl::StrFormat("%.0f / %.0f / %.0f", spread.least, spread.median, spread.most);
}

nlohmann::ordered_json json_of(const Spread& spread) {
  return {{"least_cycles", spread.least}, {"median_cycles", spread.median}, {"most_cycles", spread.most}};
}

}  // namespace

std::string machine_table(const CostModel& model) {
  using enum Table::Align;
  std::string out = absl::StrFormat("%s: %d cores, %d NUMA nodes, %d packages", model.name, model.size(),
                                    numa_nodes_of(model), packages_of(model));
  if (model.frequency_hz > 0) absl::StrAppendFormat(&out, ", cycles of %.3f GHz", model.frequency_hz / 1e9);
  Table table({{"distance", kLeft}, {"pairs", kRight}, {"send least / median / most", kRight}, {"receive", kRight}});
  for (const DistanceClass& of : classes_of(model)) {
    table.add_row({of.name, absl::StrCat(of.send.size()), text_of(spread_of(of.send)), text_of(spread_of(of.receive))});
  }
  const Asymmetry uneven = asymmetry(model);
  absl::StrAppend(&out, "\n\n", table.str(), "\n");
  absl::StrAppendFormat(&out,
                        "asymmetry: the dearer direction of a pair costs %.2f times the other (median), at most %.2f",
                        uneven.median, uneven.most);
  if (uneven.from >= 0 && uneven.most > 1) {
    absl::StrAppendFormat(&out, " (core %d to core %d: %.0f, back %.0f)", model.cores[uneven.from].id.value(),
                          model.cores[uneven.to].id.value(), model.edge(uneven.from, uneven.to),
                          model.edge(uneven.to, uneven.from));
  }
  return out + "\n";
}

std::string machine_json(const CostModel& model) {
  using nlohmann::ordered_json;
  ordered_json object{{"machine", model.name},
                      {"cores", model.size()},
                      {"packages", packages_of(model)},
                      {"numa_nodes", numa_nodes_of(model)},
                      {"frequency_hz", model.frequency_hz}};
  object["distances"] = ordered_json::array();
  for (const DistanceClass& of : classes_of(model)) {
    object["distances"].push_back({{"distance", of.name},
                                   {"pairs", of.send.size()},
                                   {"send", json_of(spread_of(of.send))},
                                   {"receive", json_of(spread_of(of.receive))}});
  }
  const Asymmetry uneven = asymmetry(model);
  object["asymmetry"] = {{"median_ratio", uneven.median}, {"most_ratio", uneven.most}};
  if (uneven.from >= 0) {
    object["asymmetry"]["from"] = model.cores[uneven.from].id.value();
    object["asymmetry"]["to"] = model.cores[uneven.to].id.value();
  }
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace ingot::services_ingotctl_render
