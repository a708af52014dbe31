// The machine's topology: cores, and which caches, memory and packages they share. Read once, through hwloc.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/types.h"

namespace ingot::inline core_planning {

// One physical core that this process may use. Indexes count from 0 in hwloc's logical order, in which neighbours are
// near each other; -1: the machine has none, or does not show it.
struct CoreInfo {
  CoreId id;            // operating-system number of its first usable hardware thread, to which threads are bound
  int package = -1;
  int numa_node = -1;
  int l3 = -1;          // which level-3 cache it uses
  int l2 = -1;
  std::vector<int> hardware_threads;  // operating-system numbers of the usable ones, ascending
  bool operator==(const CoreInfo&) const = default;
};

// How far a message travels between two cores.
enum class Distance : int { kSameCore, kSameL2, kSameL3, kSameNumaNode, kSamePackage, kOtherPackage };

Distance distance(const CoreInfo& a, const CoreInfo& b);

// A plain value.
struct Topology {
  std::vector<CoreInfo> cores;  // never empty
  int packages = 0;
  int numa_nodes = 0;

  const CoreInfo* find(CoreId id) const;  // null: not a core of this topology
};

// The cores that this process may use: those of its cpuset and of the calling thread's affinity.
// Errors: INTERNAL (hwloc cannot read the machine).
absl::StatusOr<Topology> this_machine();

// A made-up machine in hwloc's notation, for example "package:2 l3:4 core:8 pu:2". Errors: INVALID_ARGUMENT (hwloc does
// not understand it).
absl::StatusOr<Topology> synthetic_machine(const std::string& description);

// "2 packages, 2 NUMA nodes, 16 cores, 32 hardware threads", for logs.
std::string summary(const Topology& topology);

// The hardware threads that the calling thread may use, without `taken`; ascending, possibly none.
std::vector<CoreId> cores_without(const std::vector<CoreId>& taken);

// Binds the calling thread, and the threads and processes that it starts later, to these cores' first hardware threads.
// Errors: INVALID_ARGUMENT (no core, or none that this process may use).
absl::Status bind_this_thread(const std::vector<CoreId>& cores);

}  // namespace ingot::core_planning
