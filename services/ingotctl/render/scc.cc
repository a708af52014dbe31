#include "services/ingotctl/render/scc.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "services/cli/table.h"

namespace ingot::inline services_ingotctl_render {
namespace {

using ::ingot::control::v1::ChipLatency;
using ::ingot::control::v1::ChipPort;
using ::ingot::control::v1::GetChipResponse;
using Align = Table::Align;
using Json = nlohmann::ordered_json;

double ns(std::uint64_t ps) { return static_cast<double>(ps) * 1e-3; }

std::uint64_t cycles(std::uint64_t ps, const GetChipResponse& chip) {
  return static_cast<std::uint64_t>(static_cast<double>(ps) * chip.core_mhz() * 1e-6);
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string head(const GetChipResponse& chip) {
  return absl::StrFormat("%.3f ms of virtual time, %d core cycles at %d/%d/%d MHz; %.1f uJ (cores %.1f, mesh %.1f, "
                         "memory %.1f)\n",
                         ns(chip.virtual_ps()) * 1e-6, chip.core_cycles(), chip.core_mhz(), chip.mesh_mhz(),
                         chip.memory_mhz(), chip.core_uj() + chip.mesh_uj() + chip.memory_uj(), chip.core_uj(),
                         chip.mesh_uj(), chip.memory_uj());
}

std::string cores_table(const GetChipResponse& chip) {
  Table table({{"core", Align::kRight},
               {"runs"},
               {"accesses", Align::kRight},
               {"lines read", Align::kRight},
               {"lines written", Align::kRight},
               {"busy", Align::kRight}});
  for (const auto& core : chip.cores()) {
    if (core.runs().empty()) continue;
    table.add_row({absl::StrCat(core.core()), core.runs(), absl::StrCat(core.accesses()),
                   absl::StrCat(core.mesh_reads()), absl::StrCat(core.mesh_writes()),
                   absl::StrFormat("%.1f %%", share(core.active_ps(), chip.virtual_ps()))});
  }
  return table.str();
}

std::string ports_table(const GetChipResponse& chip) {
  Table table({{"port"}, {"tile", Align::kRight}, {"lines", Align::kRight}, {"waited ns a line", Align::kRight}});
  const auto add = [&](const std::string& name, const ChipPort& port) {
    if (port.lines() == 0) return;
    table.add_row({name, absl::StrCat(port.tile()), absl::StrCat(port.lines()),
                   absl::StrFormat("%.1f", ns(port.queued_ps()) / static_cast<double>(port.lines()))});
  };
  for (const ChipPort& port : chip.mpb_ports()) add("message buffers", port);
  for (int i = 0; i < chip.memory_controllers_size(); ++i) add(absl::StrCat("memory ", i), chip.memory_controllers(i));
  return table.str();
}

std::string links_table(const GetChipResponse& chip) {
  Table table({{"from tile", Align::kRight}, {"to tile", Align::kRight}, {"packets", Align::kRight}});
  for (const auto& link : chip.links()) {
    table.add_row({absl::StrCat(link.from_tile()), absl::StrCat(link.to_tile()), absl::StrCat(link.packets())});
  }
  return table.str();
}

std::string latency_table(const GetChipResponse& chip) {
  Table table({{"requests"},
               {"count", Align::kRight},
               {"mean ns", Align::kRight},
               {"mean core cycles", Align::kRight}});
  for (const ChipLatency& latency : chip.latencies()) {
    if (latency.count() == 0) continue;
    const std::uint64_t mean_ps = latency.sum_ps() / latency.count();
    table.add_row({latency.kind(), absl::StrCat(latency.count()), absl::StrFormat("%.0f", ns(mean_ps)),
                   absl::StrCat(cycles(mean_ps, chip))});
  }
  return table.str();
}

Json port_json(const ChipPort& port) {
  return {{"tile", port.tile()}, {"lines", port.lines()}, {"queued_ns", ns(port.queued_ps())}};
}

}  // namespace

std::string chip_table(const GetChipResponse& chip) {
  return absl::StrCat(head(chip), cores_table(chip), "\n", ports_table(chip), "\n", links_table(chip), "\n",
                      latency_table(chip));
}

std::string chip_json(const GetChipResponse& chip) {
  Json json{{"virtual_ns", ns(chip.virtual_ps())},
            {"core_cycles", chip.core_cycles()},
            {"rounds", chip.rounds()},
            {"clocks", absl::StrCat(chip.core_mhz(), "/", chip.mesh_mhz(), "/", chip.memory_mhz())},
            {"seed", chip.seed()},
            {"trace_hash", absl::StrFormat("%016x", chip.trace_hash())}};
  for (const char* list : {"cores", "mpb_ports", "memory_controllers", "links", "latencies"}) {
    json[list] = Json::array();
  }
  for (const auto& core : chip.cores()) {
    json["cores"].push_back({{"core", core.core()},
                             {"runs", core.runs()},
                             {"accesses", core.accesses()},
                             {"mesh_reads", core.mesh_reads()},
                             {"mesh_writes", core.mesh_writes()},
                             {"active_cycles", cycles(core.active_ps(), chip)},
                             {"polling_cycles", cycles(core.polling_ps(), chip)}});
  }
  for (const ChipPort& port : chip.mpb_ports()) json["mpb_ports"].push_back(port_json(port));
  for (const ChipPort& port : chip.memory_controllers()) json["memory_controllers"].push_back(port_json(port));
  for (const auto& link : chip.links()) {
    json["links"].push_back(
        {{"from_tile", link.from_tile()}, {"to_tile", link.to_tile()}, {"packets", link.packets()}});
  }
  for (const ChipLatency& latency : chip.latencies()) {
    json["latencies"].push_back({{"kind", latency.kind()},
                                 {"count", latency.count()},
                                 {"sum_ns", ns(latency.sum_ps())},
                                 {"sum_core_cycles", cycles(latency.sum_ps(), chip)}});
  }
  json["energy_uj"] = {{"cores", chip.core_uj()}, {"mesh", chip.mesh_uj()}, {"memory", chip.memory_uj()}};
  return json.dump();
}

}  // namespace ingot::services_ingotctl_render
