// The simulated chip's counters, as a plain value for other threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "services/scc/chip_group.h"
#include "services/scc/chip_host.h"
#include "services/scc/request_latency.h"
#include "transport/scc/energy.h"
#include "transport/scc/options.h"
#include "transport/scc/statistics.h"

namespace ingot::inline services_scc {

struct ChipView {
  std::uint64_t virtual_ps = 0;
  std::uint64_t core_cycles = 0;
  std::uint64_t rounds = 0;
  std::uint64_t trace_hash = 0;
  std::uint64_t seed = 0;
  scc::Clocks clocks;
  scc::Statistics statistics;
  scc::Energy energy;
  RequestLatencies latencies;
  ChipPlacement placement;

  // "replica 2", "gateway", or "".
  std::string runs_on(int core) const;
};

// Call it on the chip's thread.
ChipView read_view(ChipGroup& group);

// Call it on any other thread: it waits until the chip is between two rounds. Nothing if the chip has ended.
std::optional<ChipView> read_view(ChipHost& host);

}  // namespace ingot::services_scc
