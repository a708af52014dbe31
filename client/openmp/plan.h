// Which tree a team's barrier uses.
#pragma once

#include <optional>
#include <vector>

#include "core/planning/cost_model.h"
#include "core/planning/tree.h"

namespace ingot::openmp {

// The tree while the threads' places are unknown: binary, or a star if threads share cores, where a barrier costs
// context switches and a star needs the fewest.
Tree plain_tree(int threads, bool shared_cores);

// The costs of messages between threads that run on these processors (numbers of the operating system; -1: not bound,
// counted on the usable cores in turn). Nothing, after one sentence on standard error, if the machine file lacks one of
// them or the topology cannot be read. Without a machine file the first call reads the topology.
std::optional<CostModel> thread_costs(const std::vector<int>& processors);

// The tree with the fastest predicted barrier that a short search finds. Evaluates thousands of trees; takes
// milliseconds.
Tree plan_tree(const CostModel& costs);

// The one processor that the calling thread is bound to, or -1.
int bound_processor();

}  // namespace ingot::openmp
