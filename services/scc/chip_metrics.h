// Exports the simulated chip's hardware counters to Prometheus, in virtual time.
//
//   ingot_scc_virtual_seconds_total, ingot_scc_core_cycles_total       virtual time, and one core's cycles in it
//   ingot_scc_rounds_total                                             rounds between two checks for input
//   ingot_scc_core_accesses_total{core,runs}, ingot_scc_core_active_cycles_total, ingot_scc_core_polling_cycles_total
//   ingot_scc_mpb_lines_total{tile}, ingot_scc_mpb_queued_seconds_total{tile}
//   ingot_scc_memory_lines_total{controller}
//   ingot_scc_link_packets_total{from,to}                              mesh links by tile
//   ingot_scc_energy_joules_total{part}
//   ingot_scc_request_duration_seconds{kind}, ingot_scc_request_core_cycles{kind}   histograms, gateway to gateway
#pragma once

#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include "services/scc/chip_host.h"

namespace ingot::inline services_scc {

// Thread-safe. A scrape waits until the chip is between two rounds.
class ChipCollectable final : public prometheus::Collectable {
 public:
  explicit ChipCollectable(ChipHost& chip) : chip_(chip) {}  // outlives the object

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  ChipHost& chip_;
};

}  // namespace ingot::services_scc
