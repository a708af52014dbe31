#include "transport/scc/constants.h"

namespace ingot::scc::inline transport_scc {
namespace {

using enum Constant;

// The LogP-style figures of the OC-Bcast paper, in core cycles of 533 MHz, match the latencies of the hardware with one
// number for the instructions that move a line (docs/design/scc-simulator.md):
//   o_mpb   67.2 = 45 + 22.2          o_mem_r 110.9 = 40 + 18 (L2) + 30.7 (46 memory cycles) + 22.2
//   o_mem_w 245.7 = o_mem_r, since a line is read before it is written, + the evicted line's way back: 40 + 30.7 + 64.2
constexpr std::array<ConstantInfo, kConstants> kTable{{
    {kMeshCyclesPerRouter, "mesh_cycles_per_router", 4, "papers: 4 mesh cycles per hop; L_hop = 0.005 us"},
    {kMpbCoreCycles, "mpb_core_cycles", 45, "papers, widely reported: 45 core + 8 n mesh cycles"},
    {kMemoryCoreCycles, "memory_core_cycles", 40, "papers, widely reported: 40 core + 8 n mesh + 46 memory cycles"},
    {kMemoryMemoryCycles, "memory_memory_cycles", 46, "papers, widely reported: as above"},
    {kWriteBackCoreCycles, "write_back_core_cycles", 64.2,
     "derived: what the OC-Bcast paper's o_mem_w = 0.461 us leaves for the victim beside reading the line"},
    {kL2CoreCycles, "l2_core_cycles", 18, "papers, widely reported: an L2 hit takes about 18 core cycles"},
    {kCopyCoreCyclesPerLine, "copy_core_cycles_per_line", 22.2,
     "derived: o_mpb = 0.126 us less 45 core cycles; fits o_mem_r = 0.208 us, too"},
    {kInvalidateCoreCycles, "invalidate_core_cycles", 10, "assumed: one serialising instruction"},
    {kPollCoreCycles, "poll_core_cycles", 10, "assumed: a compare, a branch and their misprediction"},
    {kMpbPortMeshCycles, "mpb_port_mesh_cycles", 8,
     "assumed: 24 cores that get lines from one MPB do not yet slow one another down, 48 do; so at most 8"},
    {kMemoryPortMemoryCycles, "memory_port_memory_cycles", 8,
     "assumed: 3.2 GB/s a controller, half of what its DDR3-800 module can do, since a line is half a burst"},
    {kFpgaOneWayNs, "fpga_one_way_ns", 100,
     "assumed: ten cycles of the FPGA, some 100 MHz; more would contradict SRBP's published round trips more"},
    {kFpgaServiceNs, "fpga_service_ns", 100,
     "assumed: ten cycles likewise, as its interrupt controller; SRBP's collectives need some, but less than 200"},
    {kInterruptControllerNs, "interrupt_controller_ns", 100, "assumed: ten cycles of the FPGA"},
    {kInterruptCoreCycles, "interrupt_core_cycles", 1783,
     "derived: the papers' 2000 core cycles from core to handler, less the way through the FPGA"},
    {kInterruptReturnCoreCycles, "interrupt_return_core_cycles", 300, "assumed: sigreturn and iret"},
    {kPutMpbCoreCycles, "put_mpb_core_cycles", 36.8, "papers: o_put_mpb = 0.069 us"},
    {kGetMpbCoreCycles, "get_mpb_core_cycles", 175.9, "papers: o_get_mpb = 0.33 us"},
    {kPutMemoryCoreCycles, "put_memory_core_cycles", 101.3, "papers: o_put_mem = 0.19 us"},
    {kGetMemoryCoreCycles, "get_memory_core_cycles", 50.6, "papers: o_get_mem = 0.095 us"},
    {kWgrUncachedWrite, "wgr_uncached_write", 5, "papers: WGR table, w"},
    {kWgrUncachedGap, "wgr_uncached_gap", 47, "derived: WGR table, g = 51..84 over 1..9 routers"},
    {kWgrUncachedRead, "wgr_uncached_read", 50, "derived: WGR table, r = 54..87 over 1..9 routers"},
    {kWgrMpbWrite, "wgr_mpb_write", 25, "papers: WGR table, w"},
    {kWgrMpbGap, "wgr_mpb_gap", 74, "derived: WGR table, g = 78..108 over 1..9 routers"},
    {kWgrMpbRead, "wgr_mpb_read", 56, "derived: WGR table, r = 60..90 over 1..9 routers"},
    {kWgrUncachedBypassGap, "wgr_uncached_bypass_gap", 17, "papers: WGR table"},
    {kWgrUncachedBypassRead, "wgr_uncached_bypass_read", 19, "papers: WGR table"},
    {kWgrMpbBypassGap, "wgr_mpb_bypass_gap", 39, "papers: WGR table"},
    {kWgrMpbBypassRead, "wgr_mpb_bypass_read", 21, "papers: WGR table"},
    {kCorePicojoulesPerCycle, "core_picojoules_per_cycle", 700, "assumed: some 0.4 W a core at 533 MHz"},
    {kCorePollPicojoulesPerCycle, "core_poll_picojoules_per_cycle", 700, "assumed: polling is executing"},
    {kCoreIdlePicojoulesPerCycle, "core_idle_picojoules_per_cycle", 250, "assumed: clock tree and leakage remain"},
    {kLinkPicojoulesPerLine, "link_picojoules_per_line", 200, "assumed: some 0.8 pJ a bit and router"},
    {kMpbPicojoulesPerLine, "mpb_picojoules_per_line", 150, "assumed: a small SRAM"},
    {kMemoryPicojoulesPerLine, "memory_picojoules_per_line", 15000, "assumed: some 60 pJ a bit of DDR3"},
    {kMeshMilliwatts, "mesh_milliwatts", 4000, "assumed: a twentieth to a tenth of the chip's power"},
    {kMemoryMilliwatts, "memory_milliwatts", 12000, "assumed: 3 W a controller and its modules when idle"},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kTable.size(); ++i) {
    if (static_cast<std::size_t>(kTable[i].constant) != i) return false;
  }
  return true;
}
static_assert(in_order(), "the table is in the order of Constant");

}  // namespace

const std::array<ConstantInfo, kConstants>& constant_table() { return kTable; }

std::array<double, kConstants> default_constants() {
  std::array<double, kConstants> values{};
  for (std::size_t i = 0; i < kConstants; ++i) values[i] = kTable[i].value;
  return values;
}

}  // namespace ingot::scc::transport_scc
