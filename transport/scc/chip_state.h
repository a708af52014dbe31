// The state that the cores of a chip share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/prng.h"
#include "transport/scc/core_state.h"
#include "transport/scc/options.h"
#include "transport/scc/scheduler.h"
#include "transport/scc/statistics.h"
#include "transport/scc/trace.h"

namespace ingot::scc::inline transport_scc {

// A range that can be watched: places of the whole chip, independent of the writer.
struct WatchKey {
  static constexpr std::uint64_t kMemory = std::uint64_t{1} << 48;     // + page * 16 MiB + offset
  static constexpr std::uint64_t kRegisters = std::uint64_t{1} << 56;  // + core: test-and-set
  std::uint64_t begin = 0;  // MPBs: tile * kTileStride + offset
  std::uint64_t end = 0;
};
inline constexpr std::uint64_t kTileStride = 2 * kMpbBytesPerCore;

// The ranges that cores watch. There are few at a time, so a list by region is searched.
class Watchers {
 public:
  void add(int core, const WatchKey& key) { regions_[region(key.begin)].push_back({core, key}); }
  void remove(int core, const WatchKey& key);
  // Calls f(core, begin, end) for each watch that touches the range.
  template <typename F>
  void for_each(std::uint64_t begin, std::uint64_t end, F f) const {
    for (const Watcher& each : regions_[region(begin)]) {
      if (each.key.begin < end && begin < each.key.end) f(each.core, each.key.begin, each.key.end);
    }
  }

 private:
  struct Watcher {
    int core;
    WatchKey key;
  };
  static std::size_t region(std::uint64_t begin) {
    if (begin >= WatchKey::kMemory) return begin >= WatchKey::kRegisters ? kTiles + 1 : kTiles;
    return begin / kTileStride;
  }
  std::array<std::vector<Watcher>, kTiles + 2> regions_;
};

// All DRAM, as host memory that is allocated where it is touched.
class PhysicalMemory {
 public:
  PhysicalMemory() = default;
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;
  ~PhysicalMemory();

  bool allocate(std::size_t bytes);  // false: the host has too little memory
  std::byte* at(std::size_t offset) const { return memory_ + offset; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

struct ChipState {
  explicit ChipState(const ChipOptions& chip_options);

  // Host memory of a page, or null; the controller that serves it.
  std::byte* page_bytes(int page) const;
  int page_controller(int page) const;
  int pages() const { return kCores * kPrivateEntries + kSharedEntries; }

  // ---- Address translation (translation.cc) ----
  void set_up_lut(CoreState& core) const;
  absl::Status check_lut(const CoreState& core, int entry, LutEntry value) const;
  Route route_of(const CoreState& core, LutEntry value) const;

  const ChipOptions options;
  const Costs costs;
  Scheduler scheduler;
  Prng prng;  // of jitter and skew
  Picoseconds jitter_ps;
  Picoseconds time_limit;
  Statistics statistics;
  std::array<Port, kTiles> mpb_ports;
  std::array<Port, kControllers> memory_ports;
  Port fpga_port;
  std::array<std::array<std::byte, kTileStride>, kTiles> mpb{};
  PhysicalMemory memory;
  Watchers watchers;
  std::array<std::int8_t, kCores> test_and_set;  // by register: its holder, or -1
  std::array<std::uint32_t, 2 * kCores> counters{};
  std::uint64_t hash = 0x9e3779b97f4a7c15;
  std::unique_ptr<TraceFile> trace;  // or null
  std::array<std::unique_ptr<Core>, kCores> cores;  // last member: their programs use the others
};

inline void CoreState::next_instruction() {
  if (pending_senders != 0) [[unlikely]] take_interrupts();
  if (clock > chip.scheduler.next_ps() + kRunAheadPs) [[unlikely]] sync();
}

}  // namespace ingot::scc::transport_scc
