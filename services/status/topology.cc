#include "services/status/topology.h"

#include <sched.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replication/pages/instance_view.h"

namespace ingot::inline services_status {
namespace {

using ::ingot::control::v1::GetTopologyResponse;

void add_cores(const Topology& machine, GetTopologyResponse& topology) {
  for (const CoreInfo& info : machine.cores) {
    auto& core = *topology.add_cores();
    core.set_id(info.id.value());
    core.set_package(info.package);
    core.set_numa_node(info.numa_node);
    for (const int thread : info.hardware_threads) core.add_hardware_threads(static_cast<std::uint32_t>(thread));
  }
}

// Cores with the same cache id share that cache.
void add_caches(const Topology& machine, std::uint32_t level, int CoreInfo::*cache_of, GetTopologyResponse& topology) {
  std::map<int, std::vector<std::uint32_t>> sharers;
  for (const CoreInfo& core : machine.cores)
    if (core.*cache_of >= 0) sharers[core.*cache_of].push_back(core.id.value());
  for (const auto& [index, cores] : sharers) {
    auto& cache = *topology.add_caches();
    cache.set_level(level);
    cache.mutable_cores()->Add(cores.begin(), cores.end());
  }
}

void add_placement(const std::string& process, const ProcessEntry& entry, GetTopologyResponse& topology) {
  if (entry.pid.get() == 0) return;
  auto& placement = *topology.add_placements();
  placement.set_process(process);
  placement.set_pid(static_cast<std::uint32_t>(entry.pid.get()));
  placement.set_core(static_cast<std::uint32_t>(entry.core.get()));
}

}  // namespace

absl::StatusOr<Topology> whole_machine() {
  absl::StatusOr<Topology> machine = absl::InternalError("not read");
  // A new thread with a full affinity mask, since this_machine() shows what its thread may use and a placed process may
  // use few cores. The kernel cuts the mask to the cpuset.
  std::thread([&machine] {
    cpu_set_t everything;
    CPU_ZERO(&everything);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &everything);
    sched_setaffinity(0, sizeof everything, &everything);
    machine = this_machine();
  }).join();
  return machine;
}

GetTopologyResponse read_topology(const Topology& machine, const InstanceView& view) {
  GetTopologyResponse topology;
  topology.set_packages(static_cast<std::uint32_t>(machine.packages));
  topology.set_numa_nodes(static_cast<std::uint32_t>(machine.numa_nodes));
  add_cores(machine, topology);
  add_caches(machine, 2, &CoreInfo::l2, topology);
  add_caches(machine, 3, &CoreInfo::l3, topology);
  for (std::size_t id = 0; id < view.replicas.size(); ++id)
    add_placement(absl::StrCat("replica ", id), view.daemon->replicas[id], topology);
  add_placement("front end", view.daemon->front_end, topology);
  return topology;
}

}  // namespace ingot::services_status
