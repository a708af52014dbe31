#include "services/scc/chip_view.h"

#include <future>
#include <memory>

#include "absl/strings/str_cat.h"

namespace ingot::inline services_scc {

std::string ChipView::runs_on(int core) const {
  if (core == placement.gateway) return "gateway";
  for (std::size_t id = 0; id < placement.replicas.size(); ++id) {
    if (placement.replicas[id] == core) return absl::StrCat("replica ", id);
  }
  return "";
}

ChipView read_view(ChipGroup& group) {
  scc::Chip& chip = group.chip();
  ChipView view;
  view.virtual_ps = group.boundary_ps();
  view.core_cycles = chip.costs().to_core_cycles(view.virtual_ps);
  view.rounds = group.rounds();
  view.trace_hash = chip.trace_hash();
  view.seed = chip.options().seed;
  view.clocks = chip.options().clocks;
  view.statistics = chip.statistics();
  view.energy = scc::energy_of(view.statistics, chip.options(), view.virtual_ps);
  view.latencies = group.latencies();
  view.placement = group.placement();
  return view;
}

std::optional<ChipView> read_view(ChipHost& host) {
  const auto seen = std::make_shared<std::promise<std::optional<ChipView>>>();
  auto view = seen->get_future();
  host.post([seen](ChipGroup* group) {
    seen->set_value(group == nullptr ? std::nullopt : std::optional(read_view(*group)));
  });
  return view.get();
}

}  // namespace ingot::services_scc
