// Settings of the preloaded library from the environment, and its counters.
//
//   INGOT_OPENMP_MACHINE=FILE   plan trees for the machine file's costs; absent: for costs derived from the topology
//   INGOT_OPENMP_REPORT=1       one line on standard error when the program ends
//   INGOT_OPENMP_CORES=own      each thread has a core of its own; shared: they share cores; absent: as many threads as
//                               processors or fewer have their own
//   OMP_WAIT_POLICY             active: spin long; passive: do not spin; absent: spin for a millisecond, then sleep
//
// Everything here is safe from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "core/planning/cost_model.h"

namespace ingot::openmp {

inline constexpr int kTeamThreadsMax = 256;  // wider teams use libgomp's barrier
inline constexpr std::uint64_t kSpinNsActive = 1'000'000'000;
inline constexpr std::uint64_t kSpinNsDefault = 1'000'000;

struct Settings {
  bool usable = true;  // false: a setting was wrong and reported; libgomp's barriers are used
  bool report = false;
  std::uint64_t spin_ns = kSpinNsDefault;
  std::optional<bool> shared_cores;
  std::optional<CostModel> machine;
};

// The first call reads them.
const Settings& settings();

// Totals of all ended regions; each barrier counts once for its team, not once for each thread.
struct Counters {
  std::atomic<std::uint64_t> regions{0};
  std::atomic<std::uint64_t> tree_barriers{0};
  std::atomic<std::uint64_t> libgomp_barriers{0};  // used since tasks remained to be run
  std::atomic<std::uint64_t> trees_planned{0};
};
Counters& counters();

// One sentence on standard error.
[[gnu::format(printf, 1, 2)]] void complain(const char* format, ...);

}  // namespace ingot::openmp
