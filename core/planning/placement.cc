#include "core/planning/placement.h"

#include <algorithm>
#include <map>

#include "core/check.h"

namespace ingot::inline core_planning {
namespace {

// The first core of the largest group that shares a last-level cache: the most replicas fit near it.
const CoreInfo& home(const Topology& topology) {
  std::map<int, int> cores_of_l3;
  for (const CoreInfo& core : topology.cores) ++cores_of_l3[core.l3];
  return *std::max_element(
      topology.cores.begin(), topology.cores.end(),
      [&](const CoreInfo& a, const CoreInfo& b) { return cores_of_l3[a.l3] < cores_of_l3[b.l3]; });
}

// All cores, nearest to home first; ties in the machine's order.
std::vector<CoreId> outwards(const Topology& topology) {
  const CoreInfo& centre = home(topology);
  std::vector<const CoreInfo*> cores;
  for (const CoreInfo& core : topology.cores) cores.push_back(&core);
  std::stable_sort(cores.begin(), cores.end(), [&](const CoreInfo* a, const CoreInfo* b) {
    return distance(centre, *a) < distance(centre, *b);
  });
  std::vector<CoreId> ids;
  for (const CoreInfo* core : cores) ids.push_back(core->id);
  return ids;
}

// Index of a replica's core among `cores` usable cores, with kAuto.
std::size_t seat(std::size_t replica, std::size_t cores) {
  if (replica < cores) return replica;
  if (cores <= 2) return cores - 1;
  return 2 + (replica - 2) % (cores - 2);
}

}  // namespace

Placement place(const Topology& topology, int replicas, PlacementPolicy policy) {
  INGOT_CHECK(replicas >= 1 && !topology.cores.empty());
  const std::vector<CoreId> cores = outwards(topology);
  const std::size_t usable = policy == PlacementPolicy::kPack                          ? 1
                             : policy == PlacementPolicy::kSpread || cores.size() == 1 ? cores.size()
                                                                                       : cores.size() - 1;
  Placement result;
  for (std::size_t replica = 0; replica < static_cast<std::size_t>(replicas); ++replica) {
    const bool in_turn = policy == PlacementPolicy::kSpread;
    result.replicas.push_back(cores[in_turn ? replica % usable : seat(replica, usable)]);
  }
  for (const CoreId core : cores) {
    if (std::count(result.replicas.begin(), result.replicas.end(), core) == 0) result.front_end.push_back(core);
  }
  if (result.front_end.empty()) result.front_end = cores;
  return result;
}

bool Placement::owns_core(std::size_t replica) const {
  const CoreId core = replicas.at(replica);
  return std::count(replicas.begin(), replicas.end(), core) == 1 &&
         std::count(front_end.begin(), front_end.end(), core) == 0;
}

}  // namespace ingot::core_planning
