#include "core/planning/topology.h"

#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace ingot::inline core_planning {
namespace {

struct Destroy {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Handle = std::unique_ptr<hwloc_topology, Destroy>;

Handle make_handle() {
  hwloc_topology_t raw = nullptr;
  return Handle(hwloc_topology_init(&raw) == 0 ? raw : nullptr);
}

int ancestor_index(hwloc_topology_t topology, hwloc_obj_t core, hwloc_obj_type_t type) {
  const hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(topology, type, core);
  return found != nullptr ? static_cast<int>(found->logical_index) : -1;
}

// hwloc attaches memory beside the tree of cores, so the node is found by the processors local to it.
int numa_index(hwloc_topology_t topology, hwloc_obj_t core) {
  hwloc_obj_t node = nullptr;
  while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr) {
    if (hwloc_bitmap_isincluded(core->cpuset, node->cpuset)) return static_cast<int>(node->logical_index);
  }
  return -1;
}

CoreInfo describe_core(hwloc_topology_t topology, hwloc_obj_t core) {
  CoreInfo info;
  for (int thread = hwloc_bitmap_first(core->cpuset); thread >= 0; thread = hwloc_bitmap_next(core->cpuset, thread)) {
    info.hardware_threads.push_back(thread);
  }
  INGOT_CHECK(!info.hardware_threads.empty(), "hwloc leaves out cores that may not be used");
  info.id = CoreId(static_cast<CoreId::rep>(info.hardware_threads.front()));
  info.package = ancestor_index(topology, core, HWLOC_OBJ_PACKAGE);
  info.l3 = ancestor_index(topology, core, HWLOC_OBJ_L3CACHE);
  info.l2 = ancestor_index(topology, core, HWLOC_OBJ_L2CACHE);
  info.numa_node = numa_index(topology, core);
  return info;
}

absl::StatusOr<Topology> describe(hwloc_topology_t topology) {
  Topology result;
  // Some virtual machines and containers show hardware threads and no cores: then each thread counts as a core.
  const bool has_cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0;
  const hwloc_obj_type_t type = has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  hwloc_obj_t core = nullptr;
  while ((core = hwloc_get_next_obj_by_type(topology, type, core)) != nullptr) {
    result.cores.push_back(describe_core(topology, core));
  }
  if (result.cores.empty()) return absl::InternalError("hwloc finds no processor core that this process may use");
  result.packages = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE);
  result.numa_nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
  return result;
}

// Removes cores outside the calling thread's affinity. (hwloc's own flag for that takes the main thread's.)
bool restrict_to_affinity(hwloc_topology_t topology) {
  const hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
  const bool done = allowed != nullptr && hwloc_get_cpubind(topology, allowed, HWLOC_CPUBIND_THREAD) == 0 &&
                    hwloc_topology_restrict(topology, allowed, 0) == 0;
  hwloc_bitmap_free(allowed);
  return done;
}

bool shared(int a, int b) { return a >= 0 && a == b; }

}  // namespace

Distance distance(const CoreInfo& a, const CoreInfo& b) {
  if (a.id == b.id) return Distance::kSameCore;
  if (shared(a.l2, b.l2)) return Distance::kSameL2;
  if (shared(a.l3, b.l3)) return Distance::kSameL3;
  if (shared(a.numa_node, b.numa_node)) return Distance::kSameNumaNode;
  return shared(a.package, b.package) ? Distance::kSamePackage : Distance::kOtherPackage;
}

const CoreInfo* Topology::find(CoreId id) const {
  const auto found = std::find_if(cores.begin(), cores.end(), [id](const CoreInfo& core) { return core.id == id; });
  return found != cores.end() ? &*found : nullptr;
}

absl::StatusOr<Topology> this_machine() {
  const Handle handle = make_handle();
  if (handle == nullptr || hwloc_topology_load(handle.get()) != 0 || !restrict_to_affinity(handle.get())) {
    return absl::InternalError("hwloc cannot read this machine's topology");
  }
  return describe(handle.get());
}

absl::StatusOr<Topology> synthetic_machine(const std::string& description) {
  const Handle handle = make_handle();
  if (handle == nullptr || hwloc_topology_set_synthetic(handle.get(), description.c_str()) != 0 ||
      hwloc_topology_load(handle.get()) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("\"", description, "\" is not a machine in hwloc's notation"));
  }
  return describe(handle.get());
}

std::string summary(const Topology& topology) {
  std::size_t threads = 0;
  for (const CoreInfo& core : topology.cores) threads += core.hardware_threads.size();
  const auto counted = [](std::size_t n, const char* what) { return absl::StrCat(n, " ", what, n == 1 ? "" : "s"); };
  return absl::StrCat(counted(static_cast<std::size_t>(topology.packages), "package"), ", ",
                      counted(static_cast<std::size_t>(topology.numa_nodes), "NUMA node"), ", ",
                      counted(topology.cores.size(), "core"), ", ", counted(threads, "hardware thread"));
}

std::vector<CoreId> cores_without(const std::vector<CoreId>& taken) {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<CoreId> rest;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return rest;
  for (std::uint16_t core = 0; core < CPU_SETSIZE; ++core) {
    const bool is_taken = std::find(taken.begin(), taken.end(), CoreId(core)) != taken.end();
    if (CPU_ISSET(core, &set) && !is_taken) rest.push_back(CoreId(core));
  }
  return rest;
}

absl::Status bind_this_thread(const std::vector<CoreId>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const CoreId core : cores) {
    if (core.value() < CPU_SETSIZE) CPU_SET(core.value(), &set);
  }
  if (::sched_setaffinity(0, sizeof set, &set) != 0) {
    return absl::InvalidArgumentError("cannot bind a thread to cores that this process may not use");
  }
  return absl::OkStatus();
}

}  // namespace ingot::core_planning
