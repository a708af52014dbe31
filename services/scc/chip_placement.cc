#include "services/scc/chip_placement.h"

#include <algorithm>
#include <bitset>

#include "absl/strings/str_cat.h"
#include "services/scc/limits.h"
#include "transport/scc/geometry.h"

namespace ingot::inline services_scc {
namespace {

using Taken = std::bitset<scc::kCores>;

int distance(int a, int b) { return scc::routers(scc::tile_of(a), scc::tile_of(b)); }

// The free core with the largest distance to its nearest neighbour in `others`; of several the lowest.
int farthest(const std::vector<int>& others, const Taken& taken) {
  int best = -1, best_distance = -1;
  for (int core = 0; core < scc::kCores; ++core) {
    if (taken.test(static_cast<std::size_t>(core))) continue;
    int nearest = scc::kRoutersMax + 1;
    for (const int other : others) nearest = std::min(nearest, distance(core, other));
    if (nearest > best_distance) best = core, best_distance = nearest;
  }
  return best;
}

// The free core with the smallest sum of distances to `others`; of several the lowest.
int middle(const std::vector<int>& others, const Taken& taken) {
  int best = -1, best_sum = 0;
  for (int core = 0; core < scc::kCores; ++core) {
    if (taken.test(static_cast<std::size_t>(core))) continue;
    int sum = 0;
    for (const int other : others) sum += distance(core, other);
    if (best < 0 || sum < best_sum) best = core, best_sum = sum;
  }
  return best;
}

absl::Status take(int core, const char* flag, Taken& taken) {
  if (!scc::is_core(core)) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, " names core ", core, "; the chip's cores are 0 to ", scc::kCores - 1));
  }
  if (taken.test(static_cast<std::size_t>(core))) {
    return absl::InvalidArgumentError(absl::StrCat(flag, " names core ", core,
                                                   ", which is taken already; give every replica, and the gateway, a "
                                                   "core of its own"));
  }
  taken.set(static_cast<std::size_t>(core));
  return absl::OkStatus();
}

}  // namespace

std::vector<int> ChipPlacement::endpoints() const {
  std::vector<int> all = replicas;
  all.push_back(gateway);
  return all;
}

absl::StatusOr<ChipPlacement> place_on_chip(const SccConfig& config, int replicas) {
  if (replicas < 1 || replicas > kSccReplicasMax) {
    return absl::InvalidArgumentError(absl::StrCat("--replicas=", replicas, " does not fit on the chip; give 1 to ",
                                                   kSccReplicasMax, ", since one of its ", scc::kCores,
                                                   " cores is the gateway"));
  }
  if (!config.cores.empty() && static_cast<int>(config.cores.size()) != replicas) {
    return absl::InvalidArgumentError(absl::StrCat("--scc-cores names ", config.cores.size(), " cores for ", replicas,
                                                   " replicas; give one core for each, or leave --replicas out"));
  }
  ChipPlacement placement;
  Taken taken;
  for (const int core : config.cores) {
    if (auto status = take(core, "--scc-cores", taken); !status.ok()) return status;
    placement.replicas.push_back(core);
  }
  if (config.gateway >= 0) {
    if (auto status = take(config.gateway, "--scc-gateway", taken); !status.ok()) return status;
  }
  while (static_cast<int>(placement.replicas.size()) < replicas) {
    const bool first_free = placement.replicas.empty() && !taken.test(0);
    placement.replicas.push_back(first_free ? 0 : farthest(placement.replicas, taken));
    taken.set(static_cast<std::size_t>(placement.replicas.back()));
  }
  placement.gateway = config.gateway >= 0 ? config.gateway : middle(placement.replicas, taken);
  return placement;
}

}  // namespace ingot::services_scc
