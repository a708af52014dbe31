#include "services/scc/chip_service.h"

#include <memory>
#include <string>

namespace ingot::inline services_scc {
namespace {

using ::ingot::control::v1::ChipLatency;
using ::ingot::control::v1::GetChipRequest;
using ::ingot::control::v1::GetChipResponse;

void fill_cores(const ChipView& view, GetChipResponse& response) {
  for (int id = 0; id < scc::kCores; ++id) {
    const scc::CoreCounts& counts = view.statistics.cores[static_cast<std::size_t>(id)];
    auto& core = *response.add_cores();
    core.set_core(static_cast<std::uint32_t>(id));
    core.set_runs(view.runs_on(id));
    core.set_accesses(counts.accesses);
    core.set_mesh_reads(counts.mesh_reads);
    core.set_mesh_writes(counts.mesh_writes);
    core.set_active_ps(counts.active_ps);
    core.set_polling_ps(counts.polling_ps);
  }
}

void fill_ports(const ChipView& view, GetChipResponse& response) {
  const auto fill_port = [](int tile, const scc::PortCounts& counts, ::ingot::control::v1::ChipPort& port) {
    port.set_tile(static_cast<std::uint32_t>(tile));
    port.set_lines(counts.lines);
    port.set_queued_ps(counts.queued_ps);
  };
  for (int tile = 0; tile < scc::kTiles; ++tile) {
    fill_port(tile, view.statistics.mpb_ports[static_cast<std::size_t>(tile)], *response.add_mpb_ports());
  }
  for (int i = 0; i < scc::kControllers; ++i) {
    fill_port(scc::controller_tile(i), view.statistics.memory_ports[static_cast<std::size_t>(i)],
              *response.add_memory_controllers());
  }
}

int neighbour(int tile, scc::Direction direction) {
  switch (direction) {
    case scc::Direction::kEast:
      return tile + 1;
    case scc::Direction::kWest:
      return tile - 1;
    case scc::Direction::kSouth:
      return tile + scc::kColumns;
    case scc::Direction::kNorth:
      break;
  }
  return tile - scc::kColumns;
}

void fill_links(const ChipView& view, GetChipResponse& response) {
  const scc::LinkLoads loads = scc::link_loads(view.statistics);
  for (int tile = 0; tile < scc::kTiles; ++tile) {
    for (int direction = 0; direction < scc::kDirections; ++direction) {
      const std::uint64_t packets = loads[static_cast<std::size_t>(tile)][static_cast<std::size_t>(direction)];
      if (packets == 0) continue;
      auto& link = *response.add_links();
      link.set_from_tile(static_cast<std::uint32_t>(tile));
      link.set_to_tile(static_cast<std::uint32_t>(neighbour(tile, static_cast<scc::Direction>(direction))));
      link.set_packets(packets);
    }
  }
}

void fill_latency(const char* kind, const LatencyCounts& counts, ChipLatency& latency) {
  latency.set_kind(kind);
  latency.set_count(counts.count);
  latency.set_sum_ps(counts.sum_ps);
  latency.mutable_bounds_ns()->Add(kVirtualLatencyBoundsNs.begin(), kVirtualLatencyBoundsNs.end());
  latency.mutable_buckets()->Add(counts.buckets.begin(), counts.buckets.end());
}

}  // namespace

void fill(const ChipView& view, GetChipResponse& response) {
  response.set_virtual_ps(view.virtual_ps);
  response.set_core_cycles(view.core_cycles);
  response.set_rounds(view.rounds);
  response.set_core_mhz(static_cast<std::uint32_t>(view.clocks.core_mhz));
  response.set_mesh_mhz(static_cast<std::uint32_t>(view.clocks.mesh_mhz));
  response.set_memory_mhz(static_cast<std::uint32_t>(view.clocks.memory_mhz));
  response.set_seed(view.seed);
  response.set_trace_hash(view.trace_hash);
  fill_cores(view, response);
  fill_ports(view, response);
  fill_links(view, response);
  response.set_core_uj(view.energy.core_uj);
  response.set_mesh_uj(view.energy.mesh_uj);
  response.set_memory_uj(view.energy.memory_uj);
  fill_latency("command", view.latencies.commands, *response.add_latencies());
  fill_latency("query", view.latencies.queries, *response.add_latencies());
}

grpc::ServerUnaryReactor* ChipService::GetChip(grpc::CallbackServerContext* context, const GetChipRequest*,
                                               GetChipResponse* response) {
  const auto timer = std::make_shared<RequestTimer>(metrics_, Method::kOther);
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  chip_.post([timer, reactor, response](ChipGroup* group) {
    if (group != nullptr) fill(read_view(*group), *response);
    const grpc::Status status =
        group != nullptr ? grpc::Status::OK : grpc::Status(grpc::StatusCode::UNAVAILABLE, "the daemon is leaving");
    timer->finish(status.error_code());
    reactor->Finish(status);
  });
  return reactor;
}

}  // namespace ingot::services_scc
