#include "transport/scc/costs.h"

#include <cmath>

namespace ingot::scc::inline transport_scc {
namespace {

// Adds cycles of the three clock domains.
class Clockwork {
 public:
  explicit Clockwork(const ChipOptions& options) : options_(options) {}

  double value(Constant constant) const { return options_.constants[static_cast<std::size_t>(constant)]; }
  double core(double cycles) const { return cycles * 1e6 / options_.clocks.core_mhz; }
  double core(Constant constant) const { return core(value(constant)); }
  double mesh(double cycles) const { return cycles * 1e6 / options_.clocks.mesh_mhz; }
  double memory(double cycles) const { return cycles * 1e6 / options_.clocks.memory_mhz; }
  double one_way(int routers) const { return mesh(value(Constant::kMeshCyclesPerRouter) * routers); }

  static Picoseconds round(double ps) { return static_cast<Picoseconds>(std::llround(ps)); }

  // Half of the core's share comes before the port, the server's share after it.
  Path path(double core_ps, double server_ps, double bypass_ps) const {
    Path path;
    for (int n = 1; n <= kRoutersMax; ++n) {
      path.request[n] = round(core_ps / 2 + one_way(n));
      path.reply[n] = round(core_ps / 2 + one_way(n) + server_ps);
    }
    path.request[0] = path.reply[0] = round(bypass_ps / 2);
    return path;
  }

  PostedWrite posted(Constant issue, Constant gap, Constant bypass_gap) const {
    PostedWrite write;
    write.issue = round(core(issue));
    for (int n = 1; n <= kRoutersMax; ++n) write.gap[n] = round(core(gap) + 2 * one_way(n));
    write.gap[0] = round(core(bypass_gap));
    return write;
  }

 private:
  const ChipOptions& options_;
};

}  // namespace

Costs::Costs(const ChipOptions& options)
    : posted_writes(options.cost_model == CostModel::kWgr),
      core_mhz(static_cast<std::uint64_t>(options.clocks.core_mhz)) {
  using enum Constant;
  const Clockwork clock(options);
  const auto core = [&](Constant constant) { return clock.round(clock.core(constant)); };
  const auto mpb = [&](Constant wgr, Constant wgr_bypass) {
    return posted_writes ? clock.path(clock.core(wgr), 0, clock.core(wgr_bypass))
                         : clock.path(clock.core(kMpbCoreCycles), 0, clock.core(kMpbCoreCycles));
  };
  mpb_read = mpb(kWgrMpbRead, kWgrMpbBypassRead);
  mpb_write = mpb(kWgrMpbRead, kWgrMpbBypassRead);
  uncached_read = mpb(kWgrUncachedRead, kWgrUncachedBypassRead);
  uncached_write = mpb(kWgrUncachedRead, kWgrUncachedBypassRead);
  memory = clock.path(clock.core(kMemoryCoreCycles), clock.memory(clock.value(kMemoryMemoryCycles)), 0);
  posted_mpb = clock.posted(kWgrMpbWrite, kWgrMpbGap, kWgrMpbBypassGap);
  posted_uncached = clock.posted(kWgrUncachedWrite, kWgrUncachedGap, kWgrUncachedBypassGap);
  for (std::size_t words = 0; words < copy_words.size(); ++words) {
    copy_words[words] = clock.round(clock.core(clock.value(kCopyCoreCyclesPerLine)) / 8 * static_cast<double>(words));
  }
  l2 = core(kL2CoreCycles);
  write_back = core(kWriteBackCoreCycles);
  invalidate = core(kInvalidateCoreCycles);
  poll = core(kPollCoreCycles);
  mpb_port = clock.round(clock.mesh(clock.value(kMpbPortMeshCycles)));
  memory_port = clock.round(clock.memory(clock.value(kMemoryPortMemoryCycles)));
  fpga_port = clock.round(clock.value(kFpgaServiceNs) * 1e3);
  fpga_one_way = clock.round(clock.value(kFpgaOneWayNs) * 1e3);
  interrupt_controller = clock.round(clock.value(kInterruptControllerNs) * 1e3);
  interrupt_entry = core(kInterruptCoreCycles);
  interrupt_return = core(kInterruptReturnCoreCycles);
  put_mpb_call = core(kPutMpbCoreCycles);
  get_mpb_call = core(kGetMpbCoreCycles);
  put_memory_call = core(kPutMemoryCoreCycles);
  get_memory_call = core(kGetMemoryCoreCycles);
}

}  // namespace ingot::scc::transport_scc
