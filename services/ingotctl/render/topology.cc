#include "services/ingotctl/render/topology.h"

#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "services/cli/table.h"
#include "services/ingotctl/render/numbers.h"

namespace ingot::inline services_ingotctl_render {
namespace {

using nlohmann::ordered_json;

std::string counted(std::uint32_t count, const char* what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

}  // namespace

std::string topology_json(const control_v1::GetTopologyResponse& topology) {
  ordered_json json{{"packages", topology.packages()},
                    {"numa_nodes", topology.numa_nodes()},
                    {"cores", ordered_json::array()},
                    {"caches", ordered_json::array()},
                    {"placement", ordered_json::array()}};
  for (const auto& core : topology.cores()) {
    json["cores"].push_back({{"id", core.id()},
                             {"package", core.package()},
                             {"numa_node", core.numa_node()},
                             {"hardware_threads", numbers(core.hardware_threads())}});
  }
  for (const auto& cache : topology.caches())
    json["caches"].push_back({{"level", cache.level()}, {"cores", numbers(cache.cores())}});
  for (const auto& placement : topology.placements())
    json["placement"].push_back(
        {{"process", placement.process()}, {"pid", placement.pid()}, {"core", placement.core()}});
  return json.dump();
}

std::string topology_table(const control_v1::GetTopologyResponse& topology) {
  using enum Table::Align;
  Table cores({{"core", kRight}, {"package", kRight}, {"numa node", kRight}, {"threads", kLeft}, {"runs", kLeft}});
  for (const auto& core : topology.cores()) {
    std::vector<std::string> here;
    for (const auto& placement : topology.placements())
      if (placement.core() == core.id()) here.push_back(placement.process());
    cores.add_row({absl::StrCat(core.id()), absl::StrCat(core.package()), absl::StrCat(core.numa_node()),
                   absl::StrJoin(core.hardware_threads(), ","), absl::StrJoin(here, ", ")});
  }
  Table caches({{"cache", kLeft}, {"of cores", kLeft}});
  for (const auto& cache : topology.caches())
    caches.add_row({absl::StrCat("L", cache.level()), absl::StrJoin(cache.cores(), ", ")});
  return absl::StrCat(counted(topology.packages(), "package"), ", ", counted(topology.numa_nodes(), "NUMA node"), "\n",
                      cores.str(), topology.caches().empty() ? "" : "\n" + caches.str());
}

}  // namespace ingot::services_ingotctl_render
