// The barrier of a team of a given size: a tree, its lines, and one seat for each thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/planning/tree.h"
#include "core/types.h"
#include "transport/collectives/tree_barrier.h"
#include "transport/host/host_memory.h"
#include "transport/host/thread_waiting.h"

namespace ingot::openmp {

// The phase in which tasks were created last, on the line that all waiters read; see team.h.
struct alignas(64) TasksWord {
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  std::atomic<std::uint64_t> phase{kNever};
};

// True if the barrier that the thread waits in must be left to libgomp.
struct TasksCreated {
  const TasksWord* tasks;
  const std::uint64_t* phase;  // of the thread
  bool operator()() const { return tasks->phase.load(std::memory_order_relaxed) == *phase; }
};

using TeamWaiting = ThreadWaiting<TasksCreated>;

// One thread's end of the barrier. Used by one thread at a time, except `processor`.
struct alignas(64) BarrierSeat {
  BarrierSeat(HostMemory memory, const Tree& tree, SleepWords& words, const ThreadWaitOptions& options,
              const TasksWord& tasks, std::uint64_t first_phase)
      : phase(first_phase),
        barrier(memory, tree),
        waiting(words, memory.self(), options, TasksCreated{&tasks, &phase}) {}

  std::uint64_t phase;  // of the next barrier of its thread
  TreeBarrier<HostMemory> barrier;
  TeamWaiting waiting;
  int place = -2;                   // OpenMP place that `processor` follows from; -2: not asked yet
  std::atomic<int> processor{-1};   // that the thread is bound to; read by thread 0
};

// Each thread makes its own seat, and touches its inbox first: so both are allocated near it.
class Shape {
 public:
  // `replaced`: the shape for the phases before from_phase, in a region that is running.
  Shape(Tree tree, const ThreadWaitOptions& options, std::uint64_t from_phase, Shape* replaced);
  ~Shape();
  Shape(const Shape&) = delete;
  Shape& operator=(const Shape&) = delete;

  int threads() const { return tree_.size(); }
  const ThreadWaitOptions& options() const { return options_; }
  std::uint64_t from_phase() const { return from_phase_; }
  Shape* for_phase(std::uint64_t phase) { return phase >= from_phase_ ? this : replaced_; }

  // The seat of thread `id`; the first call makes it. Called by that thread.
  BarrierSeat& seat(int id, const TasksWord& tasks, std::uint64_t phase);
  // The processors of all threads.
  // REQUIRES: all seats are made, and the caller knows it.
  std::vector<int> processors() const;
  void wake_all();

  // The fields that change, on a line of their own: all threads read the others when they enter a region.
  struct alignas(64) Changing {
    std::atomic<bool> moved{false};  // some thread's processor has changed
    // Used by thread 0 only:
    std::uint64_t barriers = 0;
    bool plannable = true;         // there is more than one tree, and a core for each thread
    bool settled = false;          // planned already, or planning is impossible
    std::vector<int> planned_for;  // the processors of the last attempt to plan
  };
  Changing changing;

 private:
  const Tree tree_;
  const ThreadWaitOptions options_;
  const std::uint64_t from_phase_;  // the first barrier that this shape is for
  Shape* const replaced_;
  SleepWords words_;
  std::size_t inbox_bytes_ = 0;  // of each; whole pages
  std::byte* inboxes_ = nullptr;
  std::vector<std::unique_ptr<BarrierSeat>> seats_;
};

}  // namespace ingot::openmp
