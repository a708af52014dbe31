#include "client/openmp/plan.h"

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "client/openmp/settings.h"
#include "core/planning/cost_model_derive.h"
#include "core/planning/topology.h"
#include "core/planning/tree_planner/planner.h"

namespace ingot::openmp {
namespace {

constexpr std::int64_t kPlanEvaluations = 20'000;  // trees evaluated: some ten milliseconds for 32 threads
// Two threads on one processor: an estimate, as in docs/trees.md for threads that share a level-1 cache.
constexpr double kSameProcessorSend = 25, kSameProcessorReceive = 50;

// All processors of this machine, whichever the calling thread is bound to.
std::optional<CostModel> derive_this_machine() {
  std::optional<CostModel> result;
  std::thread([&result] {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int i = 0; i < CPU_SETSIZE; ++i) CPU_SET(i, &all);
    ::sched_setaffinity(0, sizeof all, &all);  // the kernel limits it to the cpuset
    const auto topology = this_machine();
    if (topology.ok()) {
      result = derive_machine(*topology, "this machine", Threads::kAll);
    } else {
      complain("%s; barriers keep their plain trees", std::string(topology.status().message()).c_str());
    }
  }).join();
  return result;
}

const std::optional<CostModel>& machine() {
  static const auto* const model =
      new std::optional<CostModel>(settings().machine.has_value() ? settings().machine : derive_this_machine());
  return *model;
}

// Indexes of the model's cores that the calling thread may use.
std::vector<int> usable_cores(const CostModel& model) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ::sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<int> cores;
  for (int i = 0; i < model.size(); ++i) {
    if (model.cores[static_cast<std::size_t>(i)].id.value() < CPU_SETSIZE &&
        CPU_ISSET(model.cores[static_cast<std::size_t>(i)].id.value(), &allowed)) {
      cores.push_back(i);
    }
  }
  return cores;
}

// The model's core of each thread; empty, after one sentence, if the model lacks one.
std::vector<int> cores_of(const CostModel& model, const std::vector<int>& processors) {
  const std::vector<int> usable = usable_cores(model);
  std::vector<int> cores;
  for (std::size_t i = 0; i < processors.size(); ++i) {
    int core = -1;
    if (processors[i] >= 0) core = model.index_of(CoreId(static_cast<std::uint16_t>(processors[i])));
    if (processors[i] < 0 && !usable.empty()) core = usable[i % usable.size()];
    if (core < 0) {
      complain("the machine file \"%s\" has no core %d, on which a thread runs; its team keeps a plain tree",
               model.name.c_str(), processors[i]);
      return {};
    }
    cores.push_back(core);
  }
  return cores;
}

}  // namespace

Tree plain_tree(int threads, bool shared_cores) {
  Tree tree(threads, 0);
  for (int i = 1; i < threads; ++i) tree.children[shared_cores ? 0 : static_cast<std::size_t>(i - 1) / 2].push_back(i);
  return tree;
}

std::optional<CostModel> thread_costs(const std::vector<int>& processors) {
  const std::optional<CostModel>& model = machine();
  if (!model.has_value()) return std::nullopt;
  const std::vector<int> cores = cores_of(*model, processors);
  if (cores.empty()) return std::nullopt;
  const auto threads = static_cast<int>(cores.size());
  CostModel costs;
  costs.name = model->name;
  costs.frequency_hz = model->frequency_hz;
  costs.send = costs.receive = CycleMatrix(threads);
  if (!model->overlapped.empty()) costs.overlapped = CycleMatrix(threads);
  for (int from = 0; from < threads; ++from) {
    costs.cores.push_back(model->cores[static_cast<std::size_t>(cores[static_cast<std::size_t>(from)])]);
    costs.cores.back().id = CoreId(static_cast<std::uint16_t>(from));
    for (int to = 0; to < threads; ++to) {
      if (from == to) continue;
      const int a = cores[static_cast<std::size_t>(from)], b = cores[static_cast<std::size_t>(to)];
      costs.send.set(from, to, a == b ? kSameProcessorSend : model->send.at(a, b));
      costs.receive.set(from, to, a == b ? kSameProcessorReceive : model->receive.at(a, b));
      if (!costs.overlapped.empty()) {
        costs.overlapped.set(from, to, a == b ? kSameProcessorSend : model->overlapped.at(a, b));
      }
    }
  }
  return costs;
}

Tree plan_tree(const CostModel& costs) {
  PlanRequest request;
  request.objective = Objective::kBarrier;
  request.budget.evaluations = kPlanEvaluations;
  auto tree = plan_ingot(costs, request);
  return tree.ok() ? *std::move(tree) : plain_tree(costs.size(), false);
}

int bound_processor() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (::sched_getaffinity(0, sizeof mask, &mask) != 0 || CPU_COUNT(&mask) != 1) return -1;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &mask)) return i;
  }
  return -1;
}

}  // namespace ingot::openmp
