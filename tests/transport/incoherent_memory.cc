#include "tests/transport/incoherent_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/check.h"

namespace ingot::test {
namespace {

void join(Clock& into, const Clock& from) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], from[i]);
}

}  // namespace

IncoherentMachine::IncoherentMachine(const MachineOptions& options)
    : options_(options), prng_(options.seed), cores_(static_cast<std::size_t>(options.cores)) {
  INGOT_CHECK(options.cores >= 1 && options.cores <= kCoresMax);
  const std::size_t lines = static_cast<std::size_t>(options.cores) * options.inbox_lines;
  cells_.resize(lines * kLineBytes);
  plain_.resize(lines);
  payload_.resize(lines * kLineBytes);
  fresh_ = 0.05 + 0.9 * prng_.unit();
  keep_on_ = prng_.chance(0.5) ? 0.2 : 0.9;
}

void IncoherentMachine::start(int core, std::function<void()> main) {
  cores_[core].fibre = std::make_unique<Fibre>([this, core, main = std::move(main)] {
    try {
      main();
    } catch (const CoreKilled&) {
      cores_[core].dead = true;
    }
  });
}

bool IncoherentMachine::runnable(const Core& core) const {
  return core.fibre != nullptr && !core.fibre->done() && core.paused_until <= accesses_ &&
         (!core.sleeping || core.rung);
}

int IncoherentMachine::pick() {
  if (running_ >= 0 && runnable(cores_[running_]) && prng_.chance(keep_on_)) return running_;
  std::array<int, kCoresMax> able{};
  int count = 0;
  for (int i = 0; i < options_.cores; ++i) {
    if (runnable(cores_[i])) able[count++] = i;
  }
  return count == 0 ? -1 : able[prng_.below(static_cast<std::uint64_t>(count))];
}

void IncoherentMachine::run(std::function<bool()> finished) {
  while (failure_.empty()) {
    running_ = pick();
    if (running_ >= 0) {
      cores_[running_].fibre->resume();
      continue;
    }
    // No core can go on now: all are done, or one is paused until later, or all sleep.
    int next = options_.accesses_max;
    for (const Core& core : cores_) {
      if (!core.fibre->done() && core.paused_until > accesses_) next = std::min(next, core.paused_until);
    }
    if (finished()) break;
    if (next == options_.accesses_max) {
      fail("all cores sleep or stopped, and not everything was delivered");
    } else {
      accesses_ = next;
    }
  }
  unwind_all();
}

void IncoherentMachine::unwind_all() {
  unwinding_ = true;
  for (Core& core : cores_) {
    while (core.fibre != nullptr && !core.fibre->done()) core.fibre->resume();
  }
}

void IncoherentMachine::step(int core_id) {
  Core& core = cores_[core_id];
  if (unwinding_) {
    if (std::uncaught_exceptions() == 0) throw CoreKilled{};
    return;
  }
  ++accesses_;
  ++core.accesses;
  if (core.accesses == core.kill_at) throw CoreKilled{};
  if (core.accesses == core.pause_at) {
    core.paused_until =
        core.pause_steps >= options_.accesses_max ? options_.accesses_max : accesses_ + core.pause_steps;
  }
  if (core.stutter > 0 && prng_.chance(core.stutter)) {
    core.paused_until = accesses_ + static_cast<int>(prng_.below(static_cast<std::uint64_t>(core.pause_steps)));
  }
  if (accesses_ >= options_.accesses_max) fail("stuck: nothing moves on");
  if (failure_.empty() && pick() == core_id) return;
  core.fibre->leave();
  if (unwinding_) throw CoreKilled{};
}

void IncoherentMachine::sleep_until_rung(int core_id) {
  Core& core = cores_[core_id];
  core.sleeping = true;
  while (!core.rung) step(core_id);
  core.sleeping = false;
  core.rung = false;
}

void IncoherentMachine::learn_death(int core, int of) { join(cores_[core].clock, cores_[of].clock); }

std::uint32_t IncoherentMachine::load(int core_id, std::size_t at, Order order) {
  step(core_id);
  Core& core = cores_[core_id];
  Cell& cell = cells_[at];
  const std::uint32_t newest = cell.count - 1;
  const std::uint32_t oldest_kept = cell.count > kHistory ? cell.count - kHistory : 0;
  std::uint32_t bound = std::max(cell.seen[core_id], oldest_kept);
  for (std::uint32_t i = newest; i > bound; --i) {
    const Write& write = cell.writes[i % kHistory];
    if (happened_before(core, write.core, write.time)) bound = i;
  }
  const std::uint32_t choice =
      prng_.chance(fresh_) ? newest : bound + static_cast<std::uint32_t>(prng_.below(newest - bound + 1));
  const Write& write = cell.writes[choice % kHistory];
  cell.seen[core_id] = choice;
  if (order == Order::kAcquire && write.release) join(core.clock, write.clock);
  return write.value;
}

void IncoherentMachine::store(int core_id, std::size_t at, std::uint32_t value, Order order) {
  step(core_id);
  Cell& cell = cells_[at];
  const std::uint32_t time = tick(core_id);
  cell.seen[core_id] = cell.count;
  Write& write = cell.writes[cell.count++ % kHistory];
  write = {value, time, core_id, order == Order::kRelease, cores_[core_id].clock};
}

std::uint32_t IncoherentMachine::update(int core_id, std::size_t at,
                                       const std::function<std::uint32_t(std::uint32_t)>& next) {
  step(core_id);
  Cell& cell = cells_[at];
  const std::uint32_t old = cell.writes[(cell.count - 1) % kHistory].value;
  const std::uint32_t time = tick(core_id);
  cell.seen[core_id] = cell.count;
  cell.writes[cell.count++ % kHistory] = {next(old), time, core_id, false, cores_[core_id].clock};
  return old;
}

void IncoherentMachine::plain_write(int core_id, std::size_t at, std::span<const std::byte> in) {
  step(core_id);
  const Core& core = cores_[core_id];
  Plain& plain = plain_[at / kLineBytes];
  bool ordered = happened_before(core, plain.writer, plain.written);
  for (int reader = 0; reader < options_.cores; ++reader) {
    ordered = ordered && happened_before(core, reader, plain.read[reader]);
  }
  if (!ordered) fail("race: payload written while it is read or written elsewhere");
  // Half of it may be stored when the core dies.
  const std::size_t half = in.size() / 2;
  plain.writer = core_id;
  plain.written = tick(core_id);
  std::copy_n(in.begin(), half, payload_.begin() + static_cast<std::ptrdiff_t>(at));
  step(core_id);
  std::copy(in.begin() + static_cast<std::ptrdiff_t>(half), in.end(),
            payload_.begin() + static_cast<std::ptrdiff_t>(at + half));
}

void IncoherentMachine::plain_read(int core_id, std::size_t at, std::byte* out, std::size_t bytes) {
  step(core_id);
  Plain& plain = plain_[at / kLineBytes];
  if (!happened_before(cores_[core_id], plain.writer, plain.written)) fail("race: payload read while it is written");
  plain.read[core_id] = tick(core_id);
  std::copy_n(payload_.begin() + static_cast<std::ptrdiff_t>(at), bytes, out);
}

IncoherentMachine::Counter& IncoherentMachine::ticket(std::size_t at) {
  for (Counter& each : tickets_) {
    if (each.at == at) return each;
  }
  return tickets_.emplace_back(Counter{at, 0, {}});
}

std::uint32_t IncoherentMachine::draw(int core_id, std::size_t at, Site acquire, Site release) {
  step(core_id);
  Core& core = cores_[core_id];
  Counter& counter = ticket(at);
  tick(core_id);
  if (order(acquire) == Order::kAcquire) join(core.clock, counter.clock);
  if (order(release) == Order::kRelease) join(counter.clock, core.clock);
  return counter.next++;
}

void IncoherentMachine::fence(int core_id) {
  step(core_id);
  tick(core_id);
  join(cores_[core_id].clock, fence_clock_);
  fence_clock_ = cores_[core_id].clock;
}

void IncoherentMachine::preset(std::size_t at, std::uint32_t value) {
  Cell& cell = cells_[at];
  cell.writes[(cell.count - 1) % kHistory].value = value;
}

std::size_t IncoherentMachine::add_cell(std::uint32_t value) {
  cells_.emplace_back().writes[0].value = value;
  return cells_.size() - 1;
}

}  // namespace ingot::test
