// Counters of a chip's events.
#pragma once

#include <array>
#include <cstdint>

#include "transport/scc/geometry.h"

namespace ingot::scc::inline transport_scc {

struct CoreCounts {
  std::uint64_t accesses = 0;        // calls of the memory: reads, writes and copies, by line
  std::uint64_t mesh_reads = 0;      // lines or words that came over the mesh
  std::uint64_t mesh_writes = 0;
  std::uint64_t polls_skipped = 0;   // polls of wait_until that could not find a change
  std::uint64_t interrupts = 0;      // handled
  std::uint64_t active_ps = 0;       // computing, or waiting for memory
  std::uint64_t polling_ps = 0;
  std::uint64_t idle_ps = 0;         // halted
};

struct PortCounts {
  std::uint64_t lines = 0;      // served
  std::uint64_t queued_ps = 0;  // total waiting time of requests
};

struct Statistics {
  std::array<CoreCounts, kCores> cores{};
  std::array<PortCounts, kTiles> mpb_ports{};
  std::array<PortCounts, kControllers> memory_ports{};
  PortCounts fpga_port;
  // Accesses from a tile to another tile's MPB or registers, to a controller, and to the FPGA.
  std::array<std::array<std::uint64_t, kTiles>, kTiles> tile_to_tile{};
  std::array<std::array<std::uint64_t, kControllers>, kTiles> tile_to_controller{};
  std::array<std::uint64_t, kTiles> tile_to_fpga{};

  std::uint64_t accesses() const {
    std::uint64_t sum = 0;
    for (const CoreCounts& core : cores) sum += core.accesses;
    return sum;
  }
};

// Links out of a router, by direction.
enum class Direction : std::uint8_t { kEast, kWest, kSouth, kNorth };
inline constexpr int kDirections = 4;
using LinkLoads = std::array<std::array<std::uint64_t, kDirections>, kTiles>;  // packets; [tile][direction]

// Every access is a request one way and an answer the other, both by XY routing.
LinkLoads link_loads(const Statistics& statistics);

}  // namespace ingot::scc::transport_scc
