#include "transport/scc/scheduler.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace ingot::scc::inline transport_scc {

void Scheduler::step_aside(int core, Picoseconds clock) {
  const Moment own = moment_of(core, moment(clock, tie()));
  if (own < table_.first_moment() && !stopped_) {
    now_ps_ = clock;
    return;
  }
  table_.set(core, own);
  Fibre& next = choose();
  Fibre& self = *fibres_[static_cast<std::size_t>(core)];
  if (&next != &self) self.switch_to(next);
}

void Scheduler::block(int core, Picoseconds until) {
  if (until < kForever) table_.set(core, moment(until, tie()));
  Fibre& next = choose();
  Fibre& self = *fibres_[static_cast<std::size_t>(core)];
  if (&next != &self) self.switch_to(next);
}

Fibre& Scheduler::after_end() { return choose(); }

Fibre& Scheduler::choose() {
  const int first = table_.first();
  if (stopped_ || first >= kCores || table_.first_moment() == kNever) {
    running_ = -1;
    return host_;
  }
  now_ps_ = std::max(now_ps_, time_of(table_.first_moment()));
  table_.set(first, kNever);
  refresh();
  running_ = first;
  // 48 stacks do not fit into the host's first-level cache: that of the core after the next is fetched while the next
  // runs.
  if (const int second = table_.first(); second < kCores) fibres_[static_cast<std::size_t>(second)]->prefetch();
  return *fibres_[static_cast<std::size_t>(first)];
}

void Scheduler::set(int core, Picoseconds when) {
  INGOT_CHECK(core != running_);
  table_.set(core, moment(when, tie()));
  refresh();
}

Picoseconds Scheduler::remove(int core) {
  const Picoseconds when = time_of(table_.when(core));
  table_.set(core, kNever);
  refresh();
  return when;
}

void Scheduler::at(Picoseconds when, std::function<void()> function) {
  events_.push_back({when, events_made_++, std::move(function)});
  std::push_heap(events_.begin(), events_.end());
  table_.set(kEventEntry, moment(events_.front().when, 0));
  refresh();
}

void Scheduler::run_event() {
  std::pop_heap(events_.begin(), events_.end());
  Event event = std::move(events_.back());
  events_.pop_back();
  table_.set(kEventEntry, events_.empty() ? kNever : moment(events_.front().when, 0));
  refresh();
  now_ps_ = std::max(now_ps_, event.when);
  event.function();
}

Scheduler::End Scheduler::advance(Picoseconds until) {
  INGOT_CHECK(running_ < 0, "a program cannot run its own chip");
  stopped_ = false;
  table_.set(kDeadlineEntry, moment(std::min(until, kForever - 1), 0));  // so that there always is a first entry
  refresh();
  End end = End::kStopped;
  while (!stopped_) {
    const int first = table_.first();
    if (first == kEventEntry && table_.first_moment() != kNever) {
      run_event();
    } else if (first < kCores) {
      host_.switch_to(choose());
    } else {
      bool nobody = events_.empty();
      for (int core = 0; core < kCores; ++core) nobody = nobody && !scheduled(core);
      end = nobody ? End::kNobody : End::kDeadline;
      break;
    }
  }
  table_.set(kDeadlineEntry, kNever);
  stopped_ = false;
  refresh();
  return end;
}

void Scheduler::run_alone(int core) {
  table_.set(core, kNever);
  stopped_ = true;  // so that it comes back here
  running_ = core;
  host_.switch_to(*fibres_[static_cast<std::size_t>(core)]);
  running_ = -1;
  stopped_ = false;
  refresh();
}

}  // namespace ingot::scc::transport_scc
