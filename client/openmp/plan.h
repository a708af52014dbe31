// Which tree a team meets on.
#pragma once

#include <optional>
#include <vector>

#include "core/planning/cost_model.h"
#include "core/planning/tree.h"

namespace ingot::openmp {

// Before anything is known of where threads run: binary, or a star where threads share cores and a barrier is made of
// context switches, of which a star needs least.
Tree plain_tree(int threads, bool shared_cores);

// The costs of messages between threads that run on these processors (numbers of the operating system; -1: anywhere,
// then the usable cores in turn). Nothing, after one sentence on standard error, where the machine file does not know
// one of them or the topology cannot be read. Reads the topology when first called, where there is no machine file.
std::optional<CostModel> thread_costs(const std::vector<int>& processors);

// The tree with the fastest predicted barrier that a short search finds: thousands of trees, milliseconds.
Tree plan_tree(const CostModel& costs);

// The one processor that the calling thread is bound to, or -1.
int bound_processor();

}  // namespace ingot::openmp
