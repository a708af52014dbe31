#include "transport/scc/chip.h"

#include <sys/mman.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "transport/scc/chip_state.h"
#include "transport/scc/fibre.h"

namespace ingot::scc::inline transport_scc {
namespace {

constexpr int kNobody = -1;

std::size_t memory_bytes(const ChipOptions& options) { return kCores * options.private_bytes + kSharedBytes; }

std::string microseconds(Picoseconds ps) { return absl::StrCat(static_cast<double>(ps) * 1e-6, " us"); }

// A watched range in words.
std::string describe(const ChipState& chip, const WatchKey& key) {
  if (key.begin >= WatchKey::kRegisters) {
    const auto core = key.begin - WatchKey::kRegisters;
    const int holder = chip.test_and_set[core];
    return absl::StrCat("the test-and-set register of core ", core,
                        holder == kNobody ? ", which nobody holds" : absl::StrCat(", which core ", holder, " holds"));
  }
  if (key.begin >= WatchKey::kMemory) {
    return absl::StrCat("memory page ", (key.begin - WatchKey::kMemory) / kLutEntryBytes, " at ",
                        (key.begin - WatchKey::kMemory) % kLutEntryBytes);
  }
  return absl::StrCat("MPB of core ", key.begin / kMpbBytesPerCore, ", bytes ", key.begin % kMpbBytesPerCore, " to ",
                      key.begin % kMpbBytesPerCore + (key.end - key.begin) - 1);
}

}  // namespace

PhysicalMemory::~PhysicalMemory() {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
}

bool PhysicalMemory::allocate(std::size_t bytes) {
  void* memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  memory_ = static_cast<std::byte*>(memory);
  bytes_ = bytes;
  return true;
}

ChipState::ChipState(const ChipOptions& chip_options)
    : options(chip_options),
      costs(chip_options),
      scheduler(chip_options.seed),
      prng(chip_options.seed),
      jitter_ps(costs.core_cycles(chip_options.jitter_core_cycles)),
      time_limit(static_cast<Picoseconds>(std::llround(chip_options.virtual_seconds_max * 1e12))) {
  test_and_set.fill(kNobody);
  for (std::size_t i = 0; i < kTiles; ++i) mpb_ports[i] = {0, costs.mpb_port, &statistics.mpb_ports[i]};
  for (std::size_t i = 0; i < kControllers; ++i) memory_ports[i] = {0, costs.memory_port, &statistics.memory_ports[i]};
  fpga_port = {0, costs.fpga_port, &statistics.fpga_port};
}

Chip::Chip(const ChipOptions& options) : state_(std::make_unique<ChipState>(options)) {}

absl::StatusOr<std::unique_ptr<Chip>> Chip::create(const ChipOptions& options) {
  if (auto status = validate(options); !status.ok()) return status;
  std::unique_ptr<Chip> chip(new Chip(options));
  ChipState& state = *chip->state_;
  if (!state.memory.allocate(memory_bytes(options))) {
    return absl::ResourceExhaustedError(
        absl::StrCat("this machine has no room for the chip's ", memory_bytes(options), " bytes of memory"));
  }
  if (!options.trace_path.empty()) {
    auto trace = TraceFile::create(options.trace_path, options.trace_events_max);
    if (!trace.ok()) return trace.status();
    state.trace = *std::move(trace);
  }
  for (int id = 0; id < kCores; ++id) state.cores[static_cast<std::size_t>(id)] = std::make_unique<Core>(*chip, id);
  return chip;
}

Chip::~Chip() { end_programs(); }

const ChipOptions& Chip::options() const { return state_->options; }
const Costs& Chip::costs() const { return state_->costs; }

Core& Chip::core(int core) {
  INGOT_CHECK(is_core(core), "cores are numbered from 0 to 47");
  return *state_->cores[static_cast<std::size_t>(core)];
}

// ---- Programs ----

void Chip::start(int core, Program program) { start_at(core, std::move(program), now_ps()); }

void Chip::start_at(int core_id, Program program, Picoseconds when) {
  CoreState& core = this->core(core_id).state();
  INGOT_CHECK(!core.active && !core.killed, "a core runs one program at a time, and none once it was killed");
  if (core.fibre == nullptr) {
    core.fibre = std::make_unique<Fibre>(state_->options.stack_bytes, core_id);
    state_->scheduler.set_fibre(core_id, core.fibre.get());
  }
  core.active = true;
  core.ending = core.unwinding = core.in_handler = core.woken_by_hits = core.woken_by_interrupts = false;
  core.attention = core.stopped;
  core.wait_what = nullptr;
  core.clock = core.started_ps = std::max(when, core.resumed_ps);
  if (const std::uint64_t skew = state_->options.start_skew_core_cycles; skew != 0) {
    core.clock += state_->costs.core_cycles(state_->prng.below(skew));
  }
  core.fibre->start([this, &core, program = std::move(program)]() -> Fibre& {
    try {
      if (!core.ending) program(core.core);
    } catch (const ProgramEnded&) {
    }
    core.active = false;
    core.handler = nullptr;
    core.run_ps += core.clock - core.started_ps;
    state_->scheduler.reached(core.served_ps);
    return state_->scheduler.after_end();
  });
  core.wake(core.clock);
}

Chip::Progress Chip::advance(Picoseconds until_ps) {
  const OverflowMessage overflow;
  const Scheduler::End end = state_->scheduler.advance(until_ps);
  if (end != Scheduler::End::kNobody) return Progress::kDeadline;
  for (const auto& core : state_->cores) {
    if (core->state().active && !core->state().stopped) return Progress::kIdle;
  }
  return Progress::kFinished;
}

void Chip::stop_advancing() { state_->scheduler.stop(); }

absl::Status Chip::run(const Program& program) {
  std::array<int, kCores> all{};
  for (int i = 0; i < kCores; ++i) all[static_cast<std::size_t>(i)] = i;
  return run(all, program);
}

absl::Status Chip::run(std::span<const int> cores, const Program& program) {
  if (cores.empty()) return absl::InvalidArgumentError("a run needs at least one core");
  std::bitset<kCores> chosen;
  for (const int id : cores) {
    if (!is_core(id)) {
      return absl::InvalidArgumentError(
          absl::StrCat("there is no core ", id, ": cores are numbered from 0 to ", kCores - 1));
    }
    if (chosen.test(static_cast<std::size_t>(id))) {
      return absl::InvalidArgumentError(absl::StrCat("core ", id, " is named twice"));
    }
    chosen.set(static_cast<std::size_t>(id));
    if (running(id)) return absl::InvalidArgumentError(absl::StrCat("core ", id, " is still running a program"));
    if (killed(id)) return absl::InvalidArgumentError(absl::StrCat("core ", id, " was killed"));
  }
  const Picoseconds begin = now_ps();
  for (const int id : cores) start_at(id, program, begin);
  const Progress progress = advance(state_->time_limit);
  absl::Status status;
  if (progress == Progress::kIdle) {
    status = absl::FailedPreconditionError(absl::StrCat("deadlock: no core can ever go on\n", describe_waiting()));
  } else if (progress == Progress::kDeadline) {
    status = absl::DeadlineExceededError(absl::StrCat("the run did not end within ",
                                                      state_->options.virtual_seconds_max, " virtual seconds\n",
                                                      describe_waiting()));
  }
  end_programs();
  return status;
}

void Chip::end_programs() {
  for (const auto& each : state_->cores) {
    if (each == nullptr) continue;
    CoreState& core = each->state();
    if (!core.active) continue;
    core.ending = core.attention = true;
    state_->scheduler.run_alone(core.id);
    INGOT_CHECK(!core.active);
  }
}

std::string Chip::describe_waiting() const {
  std::string text;
  for (const auto& each : state_->cores) {
    const CoreState& core = each->state();
    if (!core.active) continue;
    absl::StrAppend(&text, text.empty() ? "" : "\n", "core ", core.id);
    if (core.stopped) {
      absl::StrAppend(&text, " is stopped");
    } else if (core.wait_what == nullptr) {
      absl::StrAppend(&text, " runs, at ", microseconds(core.clock));
    } else {
      absl::StrAppend(&text, " waits since ", microseconds(core.wait_since), " for ", core.wait_what);
    }
    if (core.wait_what == nullptr) continue;
    for (std::size_t i = 0; i < std::min<std::size_t>(core.wait_keys.size(), 3); ++i) {
      absl::StrAppend(&text, i == 0 ? ": " : "; ", describe(*state_, core.wait_keys[i]));
    }
    if (core.wait_keys.size() > 3) absl::StrAppend(&text, "; and ", core.wait_keys.size() - 3, " more");
  }
  return text;
}

void Chip::ring(int core) {
  CoreState& state = this->core(core).state();
  if (state.active) state.hit(now_ps());
}

void Chip::at(Picoseconds when_ps, std::function<void()> function) {
  state_->scheduler.at(std::max(when_ps, state_->scheduler.now_ps()), std::move(function));
}

void Chip::occupy_memory(int controller, int lines) {
  INGOT_CHECK(controller >= 0 && controller < kControllers && lines >= 0, "there are four controllers");
  Port& port = state_->memory_ports[static_cast<std::size_t>(controller)];
  port.free_ps = std::max(port.free_ps, now_ps()) + static_cast<Picoseconds>(lines) * port.service_ps;
  port.counts->lines += static_cast<std::uint64_t>(lines);
}

// ---- Faults ----

void Chip::kill(int core_id) {
  CoreState& core = this->core(core_id).state();
  core.killed = true;
  if (!core.active || core.ending) return;
  core.ending = core.attention = true;
  core.stopped = false;
  if (state_->scheduler.running() != core_id) state_->scheduler.set(core_id, now_ps());
}

void Chip::stop(int core) { this->core(core).state().stop(); }
void Chip::resume(int core) { this->core(core).state().resume(now_ps()); }
bool Chip::killed(int core) const { return state_->cores[static_cast<std::size_t>(core)]->state().killed; }
bool Chip::stopped(int core) const { return state_->cores[static_cast<std::size_t>(core)]->state().stopped; }
bool Chip::running(int core) const { return state_->cores[static_cast<std::size_t>(core)]->state().active; }

// ---- Inspection ----

Picoseconds Chip::now_ps() const {
  if (const int running = state_->scheduler.running(); running >= 0) {
    return state_->cores[static_cast<std::size_t>(running)]->state().clock;
  }
  Picoseconds latest = state_->scheduler.now_ps();
  bool active = false;
  for (const auto& core : state_->cores) active = active || core->state().active;
  // Between runs no event can be earlier than the end of the last program.
  for (const auto& core : state_->cores) latest = active ? latest : std::max(latest, core->state().clock);
  return latest;
}

std::span<std::byte> Chip::mpb(int core) {
  INGOT_CHECK(is_core(core), "cores are numbered from 0 to 47");
  auto& tile = state_->mpb[static_cast<std::size_t>(tile_of(core))];
  return std::span(tile).subspan(static_cast<std::size_t>(core % 2) * kMpbBytesPerCore, kMpbBytesPerCore);
}

std::span<std::byte> Chip::private_memory(int core) {
  INGOT_CHECK(is_core(core), "cores are numbered from 0 to 47");
  return {state_->page_bytes(private_page(core, 0)), state_->options.private_bytes};
}

std::span<std::byte> Chip::shared_memory() { return {state_->page_bytes(shared_page(0)), kSharedBytes}; }

const Statistics& Chip::statistics() {
  for (const auto& each : state_->cores) {
    CoreState& core = each->state();
    const Picoseconds run = core.run_ps + (core.active ? core.clock - core.started_ps : 0);
    const Picoseconds other = core.counts->polling_ps + core.counts->idle_ps;
    core.counts->active_ps = run > other ? run - other : 0;
  }
  return state_->statistics;
}

Energy Chip::energy() { return energy_of(statistics(), state_->options, now_ps()); }

std::uint64_t Chip::trace_hash() const { return state_->hash; }

absl::Status Chip::finish_trace() { return state_->trace == nullptr ? absl::OkStatus() : state_->trace->finish(); }

}  // namespace ingot::scc::transport_scc
