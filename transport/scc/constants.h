// Every constant of the simulated chip, once, with its source. All are parameters: ChipOptions::constants.
//
// Sources: "papers" names the published work; "derived" says from what; "assumed" says why. No constant was fitted to
// the duration of a broadcast or an application.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace ingot::scc::inline transport_scc {

enum class Constant : std::size_t {
  // ---- One line over the mesh ----
  kMeshCyclesPerRouter,   // one way
  kMpbCoreCycles,         // a line of an MPB, there and back, without the mesh
  kMemoryCoreCycles,      // a line of DRAM, likewise
  kMemoryMemoryCycles,    // the DRAM's own share of it
  kWriteBackCoreCycles,   // for evicting a dirty line, on top of a line to DRAM
  kL2CoreCycles,          // an L2 look-up, hit or miss
  kCopyCoreCyclesPerLine, // instructions that move a line's eight words between a memory and registers
  kInvalidateCoreCycles,  // CL1INVMB
  kPollCoreCycles,        // branch and compare of a polling loop, on top of what it reads
  // ---- Ports ----
  kMpbPortMeshCycles,       // how long a line occupies a tile's port
  kMemoryPortMemoryCycles,  // how long a line occupies a memory controller
  // ---- The FPGA, in nanoseconds: it has its own clock ----
  kFpgaOneWayNs,
  kFpgaServiceNs,         // how long an access occupies the FPGA, which serves one at a time
  kInterruptControllerNs,
  kInterruptCoreCycles,   // from the pin to the handler's first instruction: trap, kernel, signal
  kInterruptReturnCoreCycles,
  // ---- Calls of put and get, LogP-style (OC-Bcast) ----
  kPutMpbCoreCycles,      // put, source in an MPB
  kGetMpbCoreCycles,      // get, target in an MPB
  kPutMemoryCoreCycles,   // put, source in private memory
  kGetMemoryCoreCycles,   // get, target in private memory
  // ---- The WGR model: write issue, gap, read, in core cycles besides 2 x kMeshCyclesPerRouter a router ----
  kWgrUncachedWrite,
  kWgrUncachedGap,
  kWgrUncachedRead,
  kWgrMpbWrite,
  kWgrMpbGap,
  kWgrMpbRead,
  kWgrUncachedBypassGap,  // own tile, bypassing the router, all in core cycles
  kWgrUncachedBypassRead,
  kWgrMpbBypassGap,
  kWgrMpbBypassRead,
  // ---- Energy ----
  kCorePicojoulesPerCycle,      // while it executes or waits for memory
  kCorePollPicojoulesPerCycle,  // while it polls
  kCoreIdlePicojoulesPerCycle,  // while it is halted, or after its program has ended
  kLinkPicojoulesPerLine,       // a line, or a request for one, through one router and its link
  kMpbPicojoulesPerLine,
  kMemoryPicojoulesPerLine,
  kMeshMilliwatts,              // clocks and leakage of all routers
  kMemoryMilliwatts,            // idle controllers and DRAM, all four
  kCount,
};

inline constexpr std::size_t kConstants = static_cast<std::size_t>(Constant::kCount);

struct ConstantInfo {
  Constant constant;
  std::string_view name;
  double value;
  std::string_view source;
};

// In the order of Constant.
const std::array<ConstantInfo, kConstants>& constant_table();

// The values of the table: the default of ChipOptions::constants.
std::array<double, kConstants> default_constants();

}  // namespace ingot::scc::transport_scc
