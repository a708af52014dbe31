#include "client/openmp/team.h"

#include <utility>

#include "client/openmp/plan.h"
#include "client/openmp/settings.h"

namespace ingot::openmp {

// A thread of a team, while it runs the region's function. Used by that thread only.
class Member {
 public:
  Member(const Region& region, int threads)
      : team(region.team),
        level(gomp().level()),
        id(gomp().thread()),
        threads_in_all(threads * region.outer_threads),
        shape(&team->shape_for(threads, threads_in_all, region.first_phase)),
        seat(&shape->seat(id, team->tasks(), region.first_phase)) {
    look_where();
  }

  // The thread may run on another processor in each region.
  void look_where() {
    const int place = gomp().place();
    if (place == seat->place) return;
    seat->place = place;
    int processor = -1;
    if (place < 0) {
      processor = bound_processor();
    } else if (const int count = gomp().place_processors(place); count > 0) {
      std::vector<int> ids(static_cast<std::size_t>(count));
      gomp().place_ids(place, ids.data());
      processor = ids[static_cast<std::size_t>(id % count)];  // threads that share a place are spread over it
    }
    if (seat->processor.exchange(processor, std::memory_order_relaxed) != processor) shape->changing.moved.store(true);
  }

  void change_shape(Shape& next) {
    const BarrierSeat& old = *seat;
    seat = &next.seat(id, team->tasks(), old.phase);
    seat->place = old.place;
    seat->processor.store(old.processor.load(std::memory_order_relaxed), std::memory_order_relaxed);
    shape = &next;
  }

  Team* const team;
  const int level;
  const int id;
  const int threads_in_all;  // of this team and all enclosing ones, multiplied
  Shape* shape;
  BarrierSeat* seat;
  std::uint64_t tree_barriers = 0, libgomp_barriers = 0;
};

namespace {

constexpr std::size_t kFrameLines = 4;

thread_local Member* current = nullptr;

// Teams that no region of this thread uses at present. A region takes one while it runs, so nested regions of one
// thread have different teams, and the next region at the same level finds the same team again. A plain pointer, for
// regions that run after the thread's objects are destroyed.
thread_local Team* idle_teams = nullptr;
struct TeamsEnd {
  ~TeamsEnd() {
    while (idle_teams != nullptr) delete std::exchange(idle_teams, idle_teams->next_idle);
  }
};
thread_local TeamsEnd teams_end;

void count(const Member& member) {
  Counters& all = counters();
  all.regions.fetch_add(1, std::memory_order_relaxed);
  all.tree_barriers.fetch_add(member.tree_barriers, std::memory_order_relaxed);
  all.libgomp_barriers.fetch_add(member.libgomp_barriers, std::memory_order_relaxed);
}

void complain_of_width(int threads) {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  complain("a team of %d threads is wider than %d; such teams use libgomp's barrier", threads, kTeamThreadsMax);
}

}  // namespace

Shape& Team::shape_for(int threads, int threads_in_all, std::uint64_t phase) {
  Shape* const now = shape_.load(std::memory_order_acquire);
  if (now != nullptr && now->threads() == threads) [[likely]] return *now->for_phase(phase);
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<std::size_t>(threads);
  if (shapes_.size() <= index) shapes_.resize(index + 1);
  if (shapes_[index] == nullptr) {
    const bool shared_cores = settings().shared_cores.value_or(threads_in_all > gomp().processors());
    const ThreadWaitOptions options{shared_cores ? 0 : settings().spin_ns, 16, !shared_cores};
    shapes_[index] = std::make_unique<Shape>(plain_tree(threads, shared_cores), options, 0, nullptr);
    shapes_[index]->changing.plannable = !shared_cores && threads > 2;
  }
  shape_.store(shapes_[index].get(), std::memory_order_release);
  return *shapes_[index]->for_phase(phase);
}

void Team::plan_after(std::uint64_t phase) {
  Shape& now = *shape_.load(std::memory_order_acquire);
  now.changing.barriers = 0;
  if (!now.changing.plannable || (now.changing.settled && !now.changing.moved.exchange(false))) return;
  now.changing.settled = true;
  std::vector<int> processors = now.processors();
  if (processors == now.changing.planned_for) return;
  const auto costs = thread_costs(processors);
  now.changing.planned_for = std::move(processors);
  if (!costs.has_value()) return;
  auto next = std::make_unique<Shape>(plan_tree(*costs), now.options(), phase + 1, &now);
  next->changing.settled = true;
  next->changing.planned_for = now.changing.planned_for;
  counters().trees_planned.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Shape>& kept = shapes_[static_cast<std::size_t>(now.threads())];
  retired_.push_back(std::exchange(kept, std::move(next)));
  shape_.store(kept.get(), std::memory_order_release);
}

Member* current_member() {
  Member* const member = current;
  // Another region may stand between: one of a target construct, or one that began through an older entry point.
  return member != nullptr && member->level == gomp().level() ? member : nullptr;
}

void meet(Member& member) {
  Team& team = *member.team;
  if (Shape* const next = team.shape_from(member.seat->phase, member.shape)) member.change_shape(*next);
  BarrierSeat& seat = *member.seat;
  if (member.id == 0 && ++member.shape->changing.barriers == kBarriersToPlan) team.plan_after(seat.phase);
  seat.barrier.wait(seat.waiting);
  if (team.tasks_created_in(seat.phase)) {
    gomp().barrier();
    ++member.libgomp_barriers;
  } else {
    ++member.tree_barriers;
  }
  ++seat.phase;
}

void announce_task(Member& member) { member.team->tasks_created(member.seat->phase); }

void*& copied(Member& member) { return member.team->copied; }

Team* take_team() {
  if (!settings().usable) return nullptr;
  if (idle_teams == nullptr) {
    static_cast<void>(&teams_end);
    return new Team;
  }
  Team* const team = std::exchange(idle_teams, idle_teams->next_idle);
  team->forget_retired();
  return team;
}

void return_team(Team* team) { team->next_idle = std::exchange(idle_teams, team); }

int outer_threads() { return current != nullptr ? current->threads_in_all : 1; }

void enter_region(void* argument) {
  const Region& region = *static_cast<const Region*>(argument);
  // The function probably first reads what is just above, in the frame of the master that began the region: those lines
  // travel together with the region's.
  for (std::size_t i = 1; i <= kFrameLines; ++i) __builtin_prefetch(static_cast<const char*>(argument) + 64 * i);
  const int threads = gomp().threads();
  Member* const outer = current;
  if (threads < 2 || threads > kTeamThreadsMax) {
    if (threads > kTeamThreadsMax) complain_of_width(threads);
    current = nullptr;
    region.function(region.data);
    current = outer;
    return;
  }
  Member member(region, threads);
  current = &member;
  region.function(region.data);
  current = outer;
  if (member.id == 0) {
    region.team->first_phase = member.seat->phase;
    if (settings().report) count(member);
  }
}

}  // namespace ingot::openmp
