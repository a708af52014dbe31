#include "bench/scc/overlap_member.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/check.h"
#include "core/planning/tree.h"

namespace ingot::scc {
namespace {

constexpr GroupId kGroup(1);
// How finely computation is cut, so that its end and a timer are noticed: an application's loop.
constexpr std::uint64_t kPieceCycles = 500;
constexpr Picoseconds kNoLimit = ~Picoseconds{0};

std::uint64_t now_ns(const Core& core) { return core.now_ps() / 1000; }

// The sum of doubles, charged to the core.
void combine(const void* context, std::span<std::byte> target, std::span<const std::byte> source) {
  static const Reducer kSum = reducer<double>(ReduceOperation::kSum);
  kSum.combine.function(kSum.combine.context, target, source);
  static_cast<Core*>(const_cast<void*>(context))->compute(target.size() / sizeof(double) * kCombineCyclesPerDouble);
}

Tree tree_of(int cores, int children) {
  Tree tree(cores, 0);
  for (int core = 1; core < cores; ++core) {
    tree.children[static_cast<std::size_t>((core - 1) / children)].push_back(core);
  }
  return tree;
}

// Small whole numbers, so that sums are exact in any order.
double element(int core, std::size_t i, int round) { return core + static_cast<double>(i % 1000) + 7 * round; }

}  // namespace

OverlapMember::OverlapMember(Core& core, const ChipFabric& fabric, const OverlapPoint& point)
    : core_(core),
      point_(point),
      transport_(fabric, core),
      engine_(transport_, point.cores),
      data_(point.operation == OverlapOperation::kBarrier ? 0 : point.bytes / sizeof(double)),
      sum_{sizeof(double), alignof(double), {combine, &core}} {
  if (uses_interrupts()) interrupts_.emplace(core, [this](Core&, CoreSet) { handle(); });
}

absl::Status OverlapMember::build() {
  std::vector<EndpointId> members;
  for (int i = 0; i < point_.cores; ++i) members.emplace_back(static_cast<std::uint16_t>(i));
  const auto seat = TreeSeat::of(tree_of(point_.cores, point_.children), members, engine_.self(), point_.cores);
  if (!seat.ok()) return seat.status();
  const auto data = std::as_writable_bytes(std::span(data_));
  const auto make = [&]() -> absl::StatusOr<Schedule> {
    switch (point_.operation) {
      case OverlapOperation::kBroadcast: return make_broadcast(*seat, data, kOverlapChunkBytes);
      case OverlapOperation::kReduction: return make_reduction(*seat, sum_, data, kOverlapChunkBytes);
      case OverlapOperation::kAllreduce: return make_allreduce(*seat, sum_, data, kOverlapChunkBytes);
      case OverlapOperation::kBarrier: return make_barrier(*seat);
    }
    return absl::InternalError("no such operation");
  };
  auto schedule = make();
  if (!schedule.ok()) return schedule.status();
  schedule_.emplace(*std::move(schedule));
  return absl::OkStatus();
}

void OverlapMember::prepare(int round) {
  const bool empty = point_.operation == OverlapOperation::kBroadcast && core_.id() != 0;
  for (std::size_t i = 0; i < data_.size(); ++i) data_[i] = empty ? -1 : element(core_.id(), i, round);
}

bool OverlapMember::right(int round) const {
  const bool reduced = point_.operation != OverlapOperation::kBroadcast;
  if (point_.operation == OverlapOperation::kReduction && core_.id() != 0) return true;
  const double n = point_.cores;
  for (std::size_t i = 0; i < data_.size(); ++i) {
    const double expected = reduced ? n * (n - 1) / 2 + n * element(0, i, round) : element(0, i, round);
    if (data_[i] != expected) return false;
  }
  return true;
}

// ---- The engine ----

void OverlapMember::engine_round() {
  do {
    const int steps = engine_.poll(now_ns(core_));
    core_.compute(kEngineCallCycles + static_cast<std::uint64_t>(steps) * kEngineStepCycles);
  } while (transport_.take_began_to_wait());
  pending_ = engine_.deadline_ns() != Pollable::kNever;
  transport_.interrupt_told();
  if (run_ != nullptr && finished()) std::exchange(run_, nullptr)->finish(core_.now_ps());
}

void OverlapMember::start(bool computing) {
  std::optional<Interrupts::Mask> mask;
  if (interrupts_) {
    interrupts_->attach();
    mask.emplace(*interrupts_);
  }
  transport_.interrupt_others(computing && uses_interrupts());
  first_ = true;
  ++rounds_;
  const absl::Status started = engine_.start(kGroup, *schedule_);
  INGOT_CHECK(started.ok(), "one operation at a time");
  engine_round();
}

// An interrupt: what it costs until here and from here on is the chip's.
void OverlapMember::handle() {
  const std::uint64_t switches = point_.how == Progress::kThread ? point_.switch_cycles : 0;
  core_.compute(switches);
  engine_round();
  core_.compute(switches);
}

// Polls until the operation is finished.
void OverlapMember::wait() {
  std::optional<Interrupts::Mask> mask;
  if (interrupts_) mask.emplace(*interrupts_);
  engine_round();
  while (!finished()) {
    const std::uint64_t deadline_ns = engine_.deadline_ns();
    transport_.wait(deadline_ns == Pollable::kNever ? ~Picoseconds{0} : deadline_ns * 1000);
    engine_round();
  }
}

// ---- Computing meanwhile ----

// A message that found no room is tried again at the engine's deadline, by a timer that costs what an interrupt does.
void OverlapMember::take_timer() {
  if (finished() || engine_.deadline_ns() > now_ns(core_)) return;
  const Interrupts::Mask mask(*interrupts_);
  core_.charge(core_.costs().interrupt_entry);
  handle();
  core_.charge(core_.costs().interrupt_return);
}

// The programs' tests, and the kernels' slices, have nothing to do with one another: the first after a start comes
// after a part of the period that differs from core to core and from round to round, evenly.
Picoseconds OverlapMember::first_part_of(Picoseconds period) {
  if (!std::exchange(first_, false)) return period;
  constexpr double kGoldenSection = 0.6180339887498949;
  const double place = kGoldenSection * (core_.id() + 1) + kGoldenSection * kGoldenSection * rounds_;
  return std::max<Picoseconds>(1, static_cast<Picoseconds>(static_cast<double>(period) * (place - std::floor(place))));
}

Picoseconds OverlapMember::share_a_slice(Picoseconds limit) {
  const Picoseconds slice = core_.costs().core_cycles(kTimeSliceCycles);
  const Picoseconds computed = std::min(limit, first_part_of(slice));
  core_.charge(computed);
  if (finished()) return computed;
  core_.compute(point_.switch_cycles);
  const Picoseconds end = core_.now_ps() + slice;
  engine_round();
  while (!finished() && core_.now_ps() < end) {
    const std::uint64_t deadline_ns = engine_.deadline_ns();
    transport_.wait(deadline_ns == Pollable::kNever ? end : std::min(end, deadline_ns * 1000));
    engine_round();
  }
  core_.compute(point_.switch_cycles);
  return computed;
}

Picoseconds OverlapMember::compute_a_while(Picoseconds limit) {
  if (point_.how == Progress::kPollingThread && !finished()) return share_a_slice(limit);
  const bool tests = point_.how == Progress::kExplicit && !finished();
  const Picoseconds piece = core_.costs().core_cycles(tests ? point_.test_every_cycles : kPieceCycles);
  const Picoseconds computed = std::min(limit, tests ? first_part_of(piece) : piece);
  core_.charge(computed);
  if (tests) engine_round();
  if (interrupts_) take_timer();
  return computed;
}

Picoseconds OverlapMember::alone() {
  const Picoseconds begin = core_.now_ps();
  start(false);
  wait();
  return core_.now_ps() - begin;
}

Picoseconds OverlapMember::compute_until_all_finish(OverlapRun& run) {
  const Picoseconds begin = core_.now_ps();
  Picoseconds computed = 0;
  run_ = &run;
  start(true);
  while (run.finished < run.members || core_.now_ps() < run.last_ps) computed += compute_a_while(kNoLimit);
  return core_.now_ps() - begin - computed;
}

Picoseconds OverlapMember::compute_then_wait(Picoseconds computation) {
  const Picoseconds begin = core_.now_ps();
  start(true);
  while (computation != 0) computation -= compute_a_while(computation);
  wait();
  return core_.now_ps() - begin;
}

}  // namespace ingot::scc
