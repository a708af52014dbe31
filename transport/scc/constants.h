// Every constant of the simulated chip, once, with where it is from. All are parameters: ChipOptions::constants.
//
// Sources: "papers" names the published work; "derived" says from what; "assumed" says why. Nothing here was chosen
// by looking at how long a broadcast or an application takes.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace ingot::scc {

enum class Constant : std::size_t {
  // ---- One line over the mesh ----
  kMeshCyclesPerRouter,   // one way
  kMpbCoreCycles,         // a line of an MPB, there and back, without the mesh
  kMemoryCoreCycles,      // a line of DRAM, likewise
  kMemoryMemoryCycles,    // the DRAM's own share of it
  kWriteBackCoreCycles,   // a dirty line that makes room, on top of a line to DRAM
  kL2CoreCycles,          // an L2 look-up, hit or miss
  kCopyCoreCyclesPerLine, // instructions that move a line's eight words between a memory and registers
  kInvalidateCoreCycles,  // CL1INVMB
  kPollCoreCycles,        // branch and compare of a polling loop, on top of what it reads
  // ---- Servers ----
  kMpbPortMeshCycles,     // how long a line occupies a tile's port
  kMemoryPortMemoryCycles,  // how long a line occupies a memory controller
  // ---- The FPGA, in nanoseconds: its clock is its own ----
  kFpgaOneWayNs,
  kInterruptControllerNs,
  kInterruptCoreCycles,   // from the pin to the handler's first instruction: trap, kernel, signal
  kInterruptReturnCoreCycles,
  // ---- Calls of put and get, LogP-style (OC-Bcast) ----
  kPutMpbCoreCycles,      // put, source in an MPB
  kGetMpbCoreCycles,      // get, target in an MPB
  kPutMemoryCoreCycles,   // put, source in private memory
  kGetMemoryCoreCycles,   // get, target in private memory
  // ---- The WGR model: write issue, gap, read, as core cycles beside 2 x kMeshCyclesPerRouter a router ----
  kWgrUncachedWrite,
  kWgrUncachedGap,
  kWgrUncachedRead,
  kWgrMpbWrite,
  kWgrMpbGap,
  kWgrMpbRead,
  kWgrUncachedBypassGap,  // own tile, past the router, all in core cycles
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

}  // namespace ingot::scc
