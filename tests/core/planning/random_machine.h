// Machines and trees made from a seed.
#pragma once

#include <cstdint>

#include "core/planning/cost_model.h"
#include "core/planning/tree.h"
#include "core/prng.h"

namespace ingot {

// Costs between 40 and 1000 cycles, asymmetric; nodes of up to four cores, two nodes a package. A third of the machines
// also have overlapped costs.
inline CostModel random_machine(std::uint64_t seed, int cores) {
  Prng random(seed);
  CostModel model;
  model.name = "random";
  for (int i = 0; i < cores; ++i) model.cores.push_back({CoreId(static_cast<CoreId::rep>(3 * i + 1)), i / 4, i / 8});
  model.send = model.receive = CycleMatrix(cores);
  if (random.below(3) == 0) model.overlapped = CycleMatrix(cores);
  for (int from = 0; from < cores; ++from) {
    for (int to = 0; to < cores; ++to) {
      if (from == to) continue;
      const double far = from / 4 == to / 4 ? 1 : 3;
      model.send.set(from, to, far * (40 + 60 * random.unit()));
      model.receive.set(from, to, far * (100 + 200 * random.unit()));
      if (!model.overlapped.empty()) model.overlapped.set(from, to, far * (20 + 200 * random.unit()));
    }
  }
  return model;
}

// In a random order of cores, every core but the first is a child of an earlier one.
inline Tree random_tree(std::uint64_t seed, int cores) {
  Prng random(seed);
  std::vector<int> order;
  for (int i = 0; i < cores; ++i)
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(random.below(order.size() + 1)), i);
  Tree tree(cores, order[0]);
  for (std::size_t i = 1; i < order.size(); ++i) tree.children[order[random.below(i)]].push_back(order[i]);
  return tree;
}

}  // namespace ingot
