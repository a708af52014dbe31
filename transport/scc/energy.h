// The energy account: parametric, since no paper prints constants. For comparing algorithms with one set of constants.
//
//   cores    cycles that are active, polling or idle, each with its own energy a cycle (at the default voltage)
//   mesh     lines and requests by routers passed, lines into and out of MPBs, and a constant power of all routers
//   memory   lines of DRAM, and a constant power of controllers and modules
#pragma once

#include "transport/scc/costs.h"
#include "transport/scc/options.h"
#include "transport/scc/statistics.h"

namespace ingot::scc::inline transport_scc {

struct Energy {
  double core_uj = 0;
  double mesh_uj = 0;
  double memory_uj = 0;
  double total_uj() const { return core_uj + mesh_uj + memory_uj; }

  Energy operator-(const Energy& before) const {
    return {core_uj - before.core_uj, mesh_uj - before.mesh_uj, memory_uj - before.memory_uj};
  }
};

// For a chip that has run until `now_ps`; time of a core that is neither active nor polling is idle.
Energy energy_of(const Statistics& statistics, const ChipOptions& options, Picoseconds now_ps);

}  // namespace ingot::scc::transport_scc
