// A team of OpenMP threads in the preloaded library, and its barrier.
//
// A parallel region enters here (run_region), which gives each team a Team object and each of its threads a Member.
// Teams of one thread, and teams created in other ways, have none; their barriers are libgomp's.
//
// A barrier of libgomp also runs the team's outstanding tasks, so a team with tasks must use libgomp's. Barriers of a
// team are numbered: its phases. A thread that creates a task first writes its phase into the team's TasksWord. No
// thread can have passed the barrier of that phase, since the creator has not reached it. So:
//  * a thread that waits in the barrier sees the word, stops waiting, writes its lines as usual, and goes to libgomp's
//    barrier;
//  * a thread that comes later finds its lines written, or sees the word itself;
//  * a thread that leaves the tree has an acquire that pairs, through the tree, with a release of a thread that had
//    seen the word.
// So in each phase either all threads of a team use libgomp's barrier, or none. A thread that is slow to leave the
// previous phase is not misled, since it compares with its own phase; and the tree's lines never lag behind.
//
// Thread safety: the threads of a team share its Team, as each member says.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "client/openmp/gomp.h"
#include "client/openmp/shape.h"

namespace ingot::openmp {

inline constexpr std::uint64_t kBarriersToPlan = 64;  // a team that has met this often is worth a planned tree

class Team {
 public:
  // Called by the master, while no region of this team runs.
  std::uint64_t first_phase = 0;  // of the next region
  void forget_retired() { retired_.clear(); }
  Team* next_idle = nullptr;

  // Called by each thread of a region at its start. `threads_in_all`: of this team and all enclosing ones, multiplied.
  Shape& shape_for(int threads, int threads_in_all, std::uint64_t phase);

  // Called by each thread at each barrier: the shape for this phase, or null if the thread's shape stays.
  Shape* shape_from(std::uint64_t phase, const Shape* mine) const {
    Shape* const now = shape_.load(std::memory_order_acquire);
    return now != mine && now->from_phase() <= phase ? now : nullptr;
  }

  // Called by thread 0 before the barrier of `phase`: from the next barrier on, the team uses a planned tree.
  void plan_after(std::uint64_t phase);

  // Called by a thread that is about to create a task in `phase`.
  void tasks_created(std::uint64_t phase) {
    if (tasks_.phase.load(std::memory_order_relaxed) == phase) return;
    tasks_.phase.store(phase, std::memory_order_relaxed);
    shape_.load(std::memory_order_acquire)->wake_all();
  }
  bool tasks_created_in(std::uint64_t phase) const { return tasks_.phase.load(std::memory_order_relaxed) == phase; }
  const TasksWord& tasks() const { return tasks_; }

  void* copied = nullptr;  // of `single copyprivate`, between two barriers

 private:
  std::vector<std::unique_ptr<Shape>> shapes_;   // by threads; guarded by mutex_
  std::vector<std::unique_ptr<Shape>> retired_;  // threads may still read them
  std::mutex mutex_;
  alignas(64) std::atomic<Shape*> shape_{nullptr};
  TasksWord tasks_;
};

// The calling thread's Member in its current team; null: the team has no tree.
class Member;
Member* current_member();

// The team's barrier. Called by all of its threads.
void meet(Member& member);
// Announces to the member's team a task that will be created next.
void announce_task(Member& member);
// Where the team's `single copyprivate` passes its address on.
void*& copied(Member& member);

// On the master's stack. Every other thread fetches its line, so it fits into one.
struct alignas(64) Region {
  RegionFunction function;
  void* data;
  Team* team;
  std::uint64_t first_phase;
  int outer_threads;  // of all enclosing teams, multiplied
};
Team* take_team();  // null: regions are left to libgomp
void return_team(Team* team);
int outer_threads();
void enter_region(void* region);

// Runs a region that begins with `start`, one of libgomp's entry points.
template <typename... Arguments>
void run_region(void (*start)(RegionFunction, void*, unsigned, Arguments...), RegionFunction function, void* data,
                unsigned threads, Arguments... arguments) {
  Team* const team = take_team();
  if (team == nullptr) return start(function, data, threads, arguments...);
  Region region{function, data, team, team->first_phase, outer_threads()};
  start(&enter_region, &region, threads, arguments...);
  return_team(team);
}

}  // namespace ingot::openmp
