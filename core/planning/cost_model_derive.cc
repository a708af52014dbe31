#include "core/planning/cost_model_derive.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/check.h"
#include "core/planning/limits.h"

namespace ingot::inline core_planning {
namespace {

// Cycles of one message.
struct MessageCost {
  double send, receive;
};

// docs/trees.md has the source of each.
constexpr MessageCost kSameCoreCost{25, 50};
constexpr MessageCost kSameL2Cost{43, 110};
constexpr MessageCost kSameL3Cost{62, 220};
constexpr MessageCost kSameNumaNodeCost{105, 400};
constexpr MessageCost kSamePackageCost{137, 460};
constexpr MessageCost kOtherPackageCost{193, 690};
constexpr MessageCost kFurtherLinkCost{60, 180};  // for each link between packages after the first

MessageCost cost_between(const CoreInfo& a, const CoreInfo& b) {
  switch (distance(a, b)) {
    case Distance::kSameCore:
      return kSameCoreCost;
    case Distance::kSameL2:
      return kSameL2Cost;
    case Distance::kSameL3:
      return kSameL3Cost;
    case Distance::kSameNumaNode:
      return kSameNumaNodeCost;
    case Distance::kSamePackage:
      return kSamePackageCost;
    case Distance::kOtherPackage:
      break;
  }
  const int links = std::popcount(static_cast<unsigned>(a.package) ^ static_cast<unsigned>(b.package));
  const double further = links > 1 ? links - 1 : 0;
  return {kOtherPackageCost.send + further * kFurtherLinkCost.send,
          kOtherPackageCost.receive + further * kFurtherLinkCost.receive};
}

void fill_costs(CostModel& model, absl::FunctionRef<MessageCost(int from, int to)> cost) {
  model.send = CycleMatrix(model.size());
  model.receive = CycleMatrix(model.size());
  for (int from = 0; from < model.size(); ++from) {
    for (int to = 0; to < model.size(); ++to) {
      if (from == to) continue;
      const auto [send, receive] = cost(from, to);
      model.send.set(from, to, send);
      model.receive.set(from, to, receive);
    }
  }
}

// The SCC's figures (papers: Mattson et al. 2010, and the LogP-style model of OC-Bcast); clocks in MHz.
constexpr int kSccTileColumns = 6, kSccTileRows = 4;
constexpr double kSccCoreMhz = 533, kSccMeshMhz = 800;
constexpr double kSccLineCoreCycles = 45;       // one line read from or written to a message buffer
constexpr double kSccLineMeshCyclesPerHop = 8;  // there and back

struct Tile {
  int x, y;
};
Tile scc_tile(int core) { return {core % (2 * kSccTileColumns) / 2, core / (2 * kSccTileColumns)}; }

// A core's own tile counts as one hop: the path goes through its router.
double scc_line_cycles(int hops) {
  return kSccLineCoreCycles + (hops > 0 ? hops : 1) * kSccLineMeshCyclesPerHop * kSccCoreMhz / kSccMeshMhz;
}

}  // namespace

CostModel derive_machine(const Topology& topology, const std::string& name, Threads threads) {
  CostModel model;
  model.name = name;
  std::vector<const CoreInfo*> core_of;
  for (const CoreInfo& core : topology.cores) {
    for (const int thread : core.hardware_threads) {
      if (threads == Threads::kOnePerCore && thread != core.hardware_threads.front()) break;
      model.cores.push_back(
          {CoreId(static_cast<CoreId::rep>(thread)), std::max(core.numa_node, 0), std::max(core.package, 0)});
      core_of.push_back(&core);
    }
  }
  INGOT_CHECK(model.size() <= kMachineCoresMax);
  fill_costs(model, [&](int from, int to) { return cost_between(*core_of[from], *core_of[to]); });
  return model;
}

CostModel derive_scc() {
  CostModel model;
  model.name = "intel-scc-48";
  model.frequency_hz = kSccCoreMhz * 1e6;
  for (int core = 0; core < 2 * kSccTileColumns * kSccTileRows; ++core) {
    const Tile tile = scc_tile(core);
    const int quadrant = tile.x / (kSccTileColumns / 2) + 2 * (tile.y / (kSccTileRows / 2));
    model.cores.push_back({CoreId(static_cast<CoreId::rep>(core)), quadrant, 0});
  }
  fill_costs(model, [](int from, int to) {
    const Tile a = scc_tile(from), b = scc_tile(to);
    const int hops = std::abs(a.x - b.x) + std::abs(a.y - b.y);
    return MessageCost{scc_line_cycles(hops), scc_line_cycles(0)};
  });
  return model;
}

}  // namespace ingot::core_planning
