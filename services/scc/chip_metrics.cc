#include "services/scc/chip_metrics.h"

#include <string>
#include <utility>

#include "services/metrics/families.h"
#include "services/scc/chip_service.h"
#include "services/scc/chip_view.h"

namespace ingot::inline services_scc {
namespace {

using prometheus::MetricFamily;
using ::ingot::control::v1::ChipLatency;
using ::ingot::control::v1::GetChipResponse;

// Metrics are in seconds and joules. A quotient of a whole number is the double next to it, and is printed without a
// tail of digits.
constexpr double kPsPerS = 1e12, kNsPerS = 1e9, kUjPerJ = 1e6;

MetricFamily single(const char* name, const char* help, double value) {
  MetricFamily family = counter_family(name, help);
  add_value(family, {}, value);
  return family;
}

double cycles(std::uint64_t ps, const GetChipResponse& chip) {
  return static_cast<double>(ps) * chip.core_mhz() * 1e-6;
}

void add_cores(const GetChipResponse& chip, std::vector<MetricFamily>& families) {
  auto accesses = counter_family("ingot_scc_core_accesses_total", "Accesses to memory by a core, by line.");
  auto active = counter_family("ingot_scc_core_active_cycles_total", "Core cycles spent computing or on memory.");
  auto polling = counter_family("ingot_scc_core_polling_cycles_total", "Core cycles spent polling.");
  for (const auto& core : chip.cores()) {
    if (core.runs().empty()) continue;
    const std::vector<prometheus::ClientMetric::Label> labels{{"core", std::to_string(core.core())},
                                                              {"runs", core.runs()}};
    add_value(accesses, labels, static_cast<double>(core.accesses()));
    add_value(active, labels, cycles(core.active_ps(), chip));
    add_value(polling, labels, cycles(core.polling_ps(), chip));
  }
  for (MetricFamily* family : {&accesses, &active, &polling}) families.push_back(std::move(*family));
}

void add_ports_and_links(const GetChipResponse& chip, std::vector<MetricFamily>& families) {
  auto lines = counter_family("ingot_scc_mpb_lines_total", "Lines served by the port of a tile's message buffers.");
  auto queued = counter_family("ingot_scc_mpb_queued_seconds_total", "Virtual time that requests waited there.");
  for (const auto& port : chip.mpb_ports()) {
    add_value(lines, {{"tile", std::to_string(port.tile())}}, static_cast<double>(port.lines()));
    add_value(queued, {{"tile", std::to_string(port.tile())}}, static_cast<double>(port.queued_ps()) / kPsPerS);
  }
  auto memory = counter_family("ingot_scc_memory_lines_total", "Lines served by a memory controller.");
  for (int i = 0; i < chip.memory_controllers_size(); ++i) {
    add_value(memory, {{"controller", std::to_string(i)}}, static_cast<double>(chip.memory_controllers(i).lines()));
  }
  auto links = counter_family("ingot_scc_link_packets_total", "Packets on a link of the mesh.");
  for (const auto& link : chip.links()) {
    add_value(links, {{"from", std::to_string(link.from_tile())}, {"to", std::to_string(link.to_tile())}},
              static_cast<double>(link.packets()));
  }
  for (MetricFamily* family : {&lines, &queued, &memory, &links}) families.push_back(std::move(*family));
}

// `per_s`: the metric's units in a second.
MetricFamily latencies(const GetChipResponse& chip, const char* name, const char* help, double per_s) {
  MetricFamily family{name, help, prometheus::MetricType::Histogram, {}};
  for (const ChipLatency& latency : chip.latencies()) {
    prometheus::ClientMetric metric;
    metric.label = {{"kind", latency.kind()}};
    std::uint64_t below = 0;
    for (int i = 0; i < latency.bounds_ns_size(); ++i) {
      below += latency.buckets(i);
      metric.histogram.bucket.push_back({below, static_cast<double>(latency.bounds_ns(i)) * per_s / kNsPerS});
    }
    metric.histogram.sample_count = latency.count();
    metric.histogram.sample_sum = static_cast<double>(latency.sum_ps()) * per_s / kPsPerS;
    family.metric.push_back(std::move(metric));
  }
  return family;
}

}  // namespace

std::vector<MetricFamily> ChipCollectable::Collect() const {
  const auto view = read_view(chip_);
  if (!view) return {};
  GetChipResponse chip;
  fill(*view, chip);
  std::vector<MetricFamily> families{
      single("ingot_scc_virtual_seconds_total", "Virtual time of the simulated chip.",
             static_cast<double>(chip.virtual_ps()) / kPsPerS),
      single("ingot_scc_core_cycles_total", "Cycles of one core in that time.",
             static_cast<double>(chip.core_cycles())),
      single("ingot_scc_rounds_total", "Times the chip was stopped to look for requests.",
             static_cast<double>(chip.rounds()))};
  add_cores(chip, families);
  add_ports_and_links(chip, families);
  auto energy = counter_family("ingot_scc_energy_joules_total", "Energy by the parametric account.");
  add_value(energy, {{"part", "cores"}}, chip.core_uj() / kUjPerJ);
  add_value(energy, {{"part", "mesh"}}, chip.mesh_uj() / kUjPerJ);
  add_value(energy, {{"part", "memory"}}, chip.memory_uj() / kUjPerJ);
  families.push_back(std::move(energy));
  families.push_back(latencies(chip, "ingot_scc_request_duration_seconds",
                               "Virtual time from the gateway's taking a request in until it had the answer.", 1));
  families.push_back(latencies(chip, "ingot_scc_request_core_cycles", "The same in cycles of a core.",
                               chip.core_mhz() * 1e6));
  return families;
}

}  // namespace ingot::services_scc
