#include "transport/scc/energy.h"

namespace ingot::scc::inline transport_scc {

Energy energy_of(const Statistics& statistics, const ChipOptions& options, Picoseconds now_ps) {
  using enum Constant;
  const auto value = [&](Constant constant) { return options.constants[static_cast<std::size_t>(constant)]; };
  constexpr double kMicrojoules = 1e-6;  // a picojoule
  const double seconds = static_cast<double>(now_ps) * 1e-12;
  const double cycles_per_ps = options.clocks.core_mhz * 1e-6;

  Energy energy;
  for (const CoreCounts& core : statistics.cores) {
    const std::uint64_t busy_ps = core.active_ps + core.polling_ps;
    const std::uint64_t idle_ps = now_ps > busy_ps ? now_ps - busy_ps : 0;
    const double pj = static_cast<double>(core.active_ps) * value(kCorePicojoulesPerCycle) +
                      static_cast<double>(core.polling_ps) * value(kCorePollPicojoulesPerCycle) +
                      static_cast<double>(idle_ps) * value(kCoreIdlePicojoulesPerCycle);
    energy.core_uj += pj * cycles_per_ps * kMicrojoules;
  }

  double router_passes = 0;  // a router for each link, and the last one, there and back
  for (std::size_t from = 0; from < kTiles; ++from) {
    const int tile = static_cast<int>(from);
    const auto passes = [&](int to, std::uint64_t packets) {
      router_passes += 2.0 * routers(tile, to) * static_cast<double>(packets);
    };
    for (std::size_t to = 0; to < kTiles; ++to) passes(static_cast<int>(to), statistics.tile_to_tile[from][to]);
    for (std::size_t i = 0; i < kControllers; ++i) {
      passes(controller_tile(static_cast<int>(i)), statistics.tile_to_controller[from][i]);
    }
    passes(kFpgaTile, statistics.tile_to_fpga[from]);
  }
  double mpb_lines = 0, memory_lines = 0;
  for (const PortCounts& port : statistics.mpb_ports) mpb_lines += static_cast<double>(port.lines);
  for (const PortCounts& port : statistics.memory_ports) memory_lines += static_cast<double>(port.lines);
  energy.mesh_uj = (router_passes * value(kLinkPicojoulesPerLine) + mpb_lines * value(kMpbPicojoulesPerLine)) *
                       kMicrojoules +
                   seconds * value(kMeshMilliwatts) * 1e3;
  energy.memory_uj = memory_lines * value(kMemoryPicojoulesPerLine) * kMicrojoules +
                     seconds * value(kMemoryMilliwatts) * 1e3;
  return energy;
}

}  // namespace ingot::scc::transport_scc
