#include "bench/barrier_race.h"

#include <omp.h>
#include <pthread.h>

#include <chrono>
#include <cstddef>
#include <span>

#include "core/check.h"
#include "core/planning/cost_model_derive.h"
#include "core/planning/topology.h"
#include "core/planning/tree_planner/planner.h"
#include "transport/collectives/tree_barrier.h"
#include "transport/host/host_memory.h"
#include "transport/host/thread_waiting.h"

namespace ingot::bench {
namespace {

double now_ns() { return static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count()); }

EndpointId endpoint(int thread) { return EndpointId(static_cast<std::uint16_t>(thread)); }

// The tree of libingot_openmp.so: planned for barriers if each thread has a core, else a star.
Tree tree_for(const Topology& machine, int threads) {
  Tree star(threads, 0);
  for (int i = 1; i < threads; ++i) star.children[0].push_back(i);
  if (threads > static_cast<int>(machine.cores.size()) || threads <= 2) return star;
  std::vector<CoreId> cores;
  for (int i = 0; i < threads; ++i) cores.push_back(machine.cores[static_cast<std::size_t>(i)].id);
  const auto model = restrict_to(derive_machine(machine, "here", Threads::kOnePerCore), cores);
  INGOT_CHECK(model.ok());
  PlanRequest request;
  request.objective = Objective::kBarrier;
  return *plan_ingot(*model, request);
}

struct alignas(64) HostLine {
  std::byte bytes[64]{};
};

// State that the threads share.
struct Party {
  Party(const Topology& machine, const BarrierOptions& race)
      : options(race),
        own_cores(race.threads <= static_cast<int>(machine.cores.size())),
        tree(tree_for(machine, race.threads)),
        words(static_cast<std::size_t>(race.threads), own_cores) {
    for (const auto& children : tree.children) inboxes.emplace_back(tree_barrier_lines(children.size()));
    INGOT_CHECK(::pthread_barrier_init(&pthread_barrier, nullptr, static_cast<unsigned>(race.threads)) == 0);
  }
  ~Party() { ::pthread_barrier_destroy(&pthread_barrier); }
  ThreadWaitOptions waiting() const { return {own_cores ? std::uint64_t{1'000'000} : 0, 16, own_cores}; }
  HostMemory memory(int self) {
    std::vector<std::span<std::byte>> spans;
    for (auto& inbox : inboxes) spans.push_back(std::as_writable_bytes(std::span(inbox)));
    return HostMemory(endpoint(self), spans);
  }

  const BarrierOptions options;
  const bool own_cores;
  const Tree tree;
  SleepWords words;
  std::vector<std::vector<HostLine>> inboxes;
  pthread_barrier_t pthread_barrier;
};

// One repetition of one kind; all threads begin together.
template <typename Barrier>
double time_ns(int barriers, Barrier&& barrier) {
#pragma omp barrier
  const double start = now_ns();
  for (int i = 0; i < barriers; ++i) barrier();
  return (now_ns() - start) / barriers;
}

void work(Party& party, std::vector<BarrierSeries>& series) {
  const int self = omp_get_thread_num();
  TreeBarrier<HostMemory> tree(party.memory(self), party.tree);
  ThreadWaiting<> waiting(party.words, endpoint(self), party.waiting());
  const auto record = [&](std::size_t kind, double ns) {
    if (self == 0) series[kind].ns.push_back(ns);
  };
  const int barriers = party.options.barriers;
  for (int i = 0; i < party.options.repetitions; ++i) {
    record(0, time_ns(barriers, [&] { tree.wait(waiting); }));
    record(1, time_ns(barriers, [&] { ::pthread_barrier_wait(&party.pthread_barrier); }));
    record(2, time_ns(barriers, [] {
#pragma omp barrier
           }));
  }
}

}  // namespace

absl::StatusOr<std::vector<BarrierSeries>> race_barriers(const BarrierOptions& options) {
  const auto machine = this_machine();
  if (!machine.ok()) return machine.status();
  Party party(*machine, options);
  std::vector<BarrierSeries> series = {{"tree", {}}, {"pthread", {}}, {"gnu_openmp", {}}};
  omp_set_dynamic(0);
#pragma omp parallel num_threads(options.threads)
  {
    INGOT_CHECK(omp_get_num_threads() == options.threads, "OpenMP gives fewer threads");
    const auto self = static_cast<std::size_t>(omp_get_thread_num());
    if (party.own_cores) INGOT_CHECK(bind_this_thread({machine->cores[self].id}).ok());
    work(party, series);
  }
  std::vector<CoreId> all;
  for (const CoreInfo& core : machine->cores) all.push_back(core.id);
  static_cast<void>(bind_this_thread(all));
  return series;
}

}  // namespace ingot::bench
