// A machine without cache coherence, as a Memory: the weakest one that transport/memory.h allows.
//
// Lines have 32 bytes. Every core may keep its own stale copy of a cell for as long as no order forbids it, which
// covers both private caches and write buffers: a load returns any value between the newest one that this core must see
// and the newest one stored. A core must see what it has seen of that cell before and what happened before, kept as one
// vector clock a core: stores with release publish the clock, loads with acquire join it, the draw does both. Payload
// is plain: two copies that no order separates are reported as a race.
//
// Cores are fibres. Before each access the seed decides which core goes on, so a core can be overtaken, paused for a
// while, stopped or killed between any two accesses. Independent of any protocol.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/prng.h"
#include "core/types.h"
#include "tests/transport/fibre.h"
#include "transport/memory.h"

namespace ingot::test {

inline constexpr int kCoresMax = 4;
using Clock = std::array<std::uint32_t, kCoresMax>;

struct MachineOptions {
  int cores = 3;
  std::uint32_t inbox_lines = 0;
  std::uint64_t seed = 1;
  Site weakened = Site::kCount;  // this site is relaxed; kCount: none
  bool drop_transport_fence = false;
  int accesses_max = 400'000;  // beyond this the run counts as stuck
};

// Unwinds the fibre of a killed core.
struct CoreKilled {};

class IncoherentMachine {
 public:
  static constexpr std::size_t kLineBytes = 32;

  explicit IncoherentMachine(const MachineOptions& options);

  const MachineOptions& options() const { return options_; }

  // ---- The schedule ----

  // Before run: sets a core's program and its faults.
  void start(int core, std::function<void()> main);
  void kill_at(int core, int access) { cores_[core].kill_at = access; }
  void kill_after(int core, int accesses) { kill_at(core, cores_[core].accesses + accesses); }
  void pause_at(int core, int access, int steps) {
    cores_[core].pause_at = access;
    cores_[core].pause_steps = steps;
  }
  // Pauses a core again and again: before each access with that probability, for up to steps_max steps.
  void stutter(int core, double chance, int steps_max) {
    cores_[core].stutter = chance;
    cores_[core].pause_steps = steps_max;
  }
  void stop_at(int core, int access) { pause_at(core, access, options_.accesses_max); }

  // Runs until all cores have returned, were killed, or stopped for good and `finished` returns true; or until a
  // failure.
  void run(std::function<bool()> finished);

  bool dead(int core) const { return cores_[core].dead; }
  bool stopped(int core) const { return cores_[core].paused_until >= options_.accesses_max; }

  // The first failure; empty: none.
  const std::string& failure() const { return failure_; }
  void fail(std::string what) {
    if (failure_.empty()) failure_ = std::move(what);
  }

  // ---- Called by the running core ----

  int running() const { return running_; }
  void step(int core);                          // another core may run now
  void sleep_until_rung(int core);              // like epoll on a doorbell: an earlier ring ends it at once
  void ring(int core) { cores_[core].rung = true; }
  void learn_death(int core, int of);           // a death is known: all that the dead core did happened before

  // ---- Accesses; `at` is a byte's number over all inboxes ----

  std::uint32_t load(int core, std::size_t at, Site site) { return load(core, at, order(site)); }
  void store(int core, std::size_t at, std::uint32_t value, Site site) { store(core, at, value, order(site)); }
  std::uint32_t load(int core, std::size_t at, Order order);
  void store(int core, std::size_t at, std::uint32_t value, Order order);
  // An atomic read-modify-write, relaxed; returns the old value.
  std::uint32_t update(int core, std::size_t at, const std::function<std::uint32_t(std::uint32_t)>& next);
  void plain_write(int core, std::size_t at, std::span<const std::byte> in);
  void plain_read(int core, std::size_t at, std::byte* out, std::size_t bytes);
  std::uint32_t draw(int core, std::size_t at, Site acquire, Site release);
  void fence(int core);

  // Before run: sets initial memory.
  void preset(std::size_t at, std::uint32_t value);
  // At any time: a cell beside the inboxes.
  std::size_t add_cell(std::uint32_t value);
  void preset_ticket(std::size_t at, std::uint32_t value) { ticket(at).next = value; }

 private:
  static constexpr std::uint32_t kHistory = 6;  // values of a cell that a core may still see

  struct Write {
    std::uint32_t value = 0;
    std::uint32_t time = 0;  // of its core's clock
    int core = -1;           // -1: initial memory
    bool release = false;
    Clock clock{};
  };
  struct Cell {
    std::array<Write, kHistory> writes{};
    std::uint32_t count = 1;                        // writes so far; the last kHistory are kept
    std::array<std::uint32_t, kCoresMax> seen{};    // by core: number of the newest write it has seen
  };
  struct Plain {
    int writer = -1;
    std::uint32_t written = 0;                      // time of the writer's clock
    std::array<std::uint32_t, kCoresMax> read{};    // by core: time of its last read
  };
  struct Counter {
    std::size_t at = 0;
    std::uint32_t next = 0;
    Clock clock{};
  };
  struct Core {
    std::unique_ptr<Fibre> fibre;
    Clock clock{};
    int accesses = 0;
    int kill_at = -1;
    int pause_at = -1;
    int pause_steps = 0;
    double stutter = 0;
    int paused_until = 0;  // in accesses of the machine
    bool dead = false;
    bool sleeping = false;
    bool rung = false;
  };

  Order order(Site site) const { return site == options_.weakened ? Order::kRelaxed : order_of(site); }
  bool happened_before(const Core& core, int writer, std::uint32_t time) const {
    return writer < 0 || core.clock[static_cast<std::size_t>(writer)] >= time;
  }
  std::uint32_t tick(int core) { return ++cores_[core].clock[static_cast<std::size_t>(core)]; }
  Counter& ticket(std::size_t at);
  bool runnable(const Core& core) const;
  int pick();
  void unwind_all();

  const MachineOptions options_;
  Prng prng_;
  double fresh_;     // how often a load returns the newest value
  double keep_on_;   // how often the same core goes on
  std::vector<Core> cores_;
  std::vector<Cell> cells_;
  std::vector<Plain> plain_;  // by line
  std::vector<std::byte> payload_;
  std::vector<Counter> tickets_;
  Clock fence_clock_{};
  int accesses_ = 0;
  int running_ = -1;
  bool unwinding_ = false;
  std::string failure_;
};

// One core's view.
class IncoherentMemory {
 public:
  static constexpr std::size_t kLineBytes = IncoherentMachine::kLineBytes;
  using Line = std::size_t;  // number of its first byte

  IncoherentMemory(IncoherentMachine& machine, int core) : machine_(&machine), core_(core) {}

  std::uint32_t inbox_lines(EndpointId) const { return machine_->options().inbox_lines; }
  Line line(EndpointId inbox, std::uint32_t index) const {
    return (inbox.value() * std::size_t{machine_->options().inbox_lines} + index) * kLineBytes;
  }
  Word load_word(Line line, std::uint32_t i, Site site) { return machine_->load(core_, line + 4 * i, site); }
  void store_word(Line line, std::uint32_t i, Word v, Site site) { machine_->store(core_, line + 4 * i, v, site); }
  std::uint8_t load_byte(Line line, std::uint32_t i, Site site) {
    return static_cast<std::uint8_t>(machine_->load(core_, line + i, site));
  }
  void store_byte(Line line, std::uint32_t i, std::uint8_t v, Site site) { machine_->store(core_, line + i, v, site); }
  void read_line(Line line, std::byte* out, Site site) {
    for (std::size_t i = 0; i < kLineBytes; ++i) out[i] = std::byte(machine_->load(core_, line + i, site));
  }
  void copy_in(Line line, std::uint32_t offset, std::span<const std::byte> in) {
    machine_->plain_write(core_, line + offset, in);
  }
  void copy_out(Line line, std::uint32_t offset, std::byte* out, std::size_t bytes) {
    machine_->plain_read(core_, line + offset, out, bytes);
  }
  Word draw(Line line, Site acquire, Site release) { return machine_->draw(core_, line, acquire, release); }
  void store_load_fence() {
    if (!machine_->options().drop_transport_fence) machine_->fence(core_);
  }
  void prefetch(Line) {}
  EndpointId self() const { return EndpointId(static_cast<std::uint16_t>(core_)); }
  Cycles now() const { return Cycles(0); }

 private:
  IncoherentMachine* machine_;
  int core_;
};

static_assert(Memory<IncoherentMemory>);

}  // namespace ingot::test
