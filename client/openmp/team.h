// A team of OpenMP threads as the preloaded library sees it, and how it meets.
//
// A parallel region enters here (run_region), so that each team has an object of ours, and each thread of it a Member.
// Teams of one thread, and teams that came into being some other way, have none; their barriers are libgomp's.
//
// A barrier of libgomp also runs the team's outstanding tasks, so a team with tasks must meet there. Barriers of a team
// are numbered: its phases. Whoever creates a task first writes its phase into the team's TasksWord. Since the barrier of
// that phase cannot have been passed by anybody, and the creator has not come to it:
//  * who waits in it sees the word, waits no longer, writes what it would have written, and goes to libgomp's barrier;
//  * who comes later finds its lines written, or sees the word itself;
//  * who leaves the tree has an acquire that pairs, by way of the tree, with a release of somebody who had seen the word.
// So either all threads of a team use libgomp's barrier in a phase, or none; a slow leaver of the phase before is not
// misled, since it compares for its own; and the tree's lines never lag behind.
//
// Thread safety: a Team is shared by its threads as said at each member.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "client/openmp/gomp.h"
#include "client/openmp/shape.h"

namespace ingot::openmp {

inline constexpr std::uint64_t kBarriersToPlan = 64;  // a team that has met so often is worth a planned tree

class Team {
 public:
  // By the master, while no region of this team runs.
  std::uint64_t first_phase = 0;  // of the next region
  void forget_retired() { retired_.clear(); }
  Team* next_idle = nullptr;

  // By each thread of a region, at its beginning. `threads_in_all`: of this team and all enclosing ones, multiplied.
  Shape& shape_for(int threads, int threads_in_all, std::uint64_t phase);

  // By each thread, at each barrier: the shape for this phase, or null: the one it has.
  Shape* shape_from(std::uint64_t phase, const Shape* mine) const {
    Shape* const now = shape_.load(std::memory_order_acquire);
    return now != mine && now->from_phase() <= phase ? now : nullptr;
  }

  // By thread 0, before it comes to the barrier of that phase: from the next one on, the team meets on a planned tree.
  void plan_after(std::uint64_t phase);

  // By a thread that is about to create a task in that phase.
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
  std::vector<std::unique_ptr<Shape>> retired_;  // somebody may still look at them
  std::mutex mutex_;
  alignas(64) std::atomic<Shape*> shape_{nullptr};
  TasksWord tasks_;
};

// The calling thread's place in the team that it is in; null: its team has no tree.
class Member;
Member* current_member();

// The team's barrier. Called by all threads of it.
void meet(Member& member);
// Tells the member's team of a task that will be created next.
void announce_task(Member& member);
// Where the team's `single copyprivate` hands its address on.
void*& copied(Member& member);

// On the master's stack, and a line that every other thread has to fetch: so no more than one.
struct alignas(64) Region {
  RegionFunction function;
  void* data;
  Team* team;
  std::uint64_t first_phase;
  int outer_threads;  // of all enclosing teams, multiplied
};
Team* take_team();  // null: regions are to be left alone
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
