// The constants of a chip at its clocks: all costs, in picoseconds of virtual time.
#pragma once

#include <array>
#include <cstdint>

#include "transport/scc/geometry.h"
#include "transport/scc/options.h"

namespace ingot::scc::inline transport_scc {

using Picoseconds = std::uint64_t;

// One access over the mesh: `request` until it reaches the server's port, `reply` from there until the core has the
// answer. The server is busy for its `service` time, which is within `reply`. [routers]
struct Path {
  std::array<Picoseconds, kRoutersMax + 1> request{};
  std::array<Picoseconds, kRoutersMax + 1> reply{};
};

// A posted write of the WGR model: `issue` until the core continues, `gap` until its next access may leave. [routers]
struct PostedWrite {
  Picoseconds issue = 0;
  std::array<Picoseconds, kRoutersMax + 1> gap{};
};

struct Costs {
  explicit Costs(const ChipOptions& options);

  // Any number of core cycles, rounded down to a picosecond.
  Picoseconds core_cycles(std::uint64_t cycles) const {
    return static_cast<Picoseconds>(static_cast<unsigned __int128>(cycles) * 1'000'000u / core_mhz);
  }
  std::uint64_t to_core_cycles(Picoseconds ps) const {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(ps) * core_mhz / 1'000'000u);
  }

  bool posted_writes;  // the WGR model
  std::uint64_t core_mhz;

  // Index 0 of `routers` is the bypass within a tile, which only the WGR model uses.
  Path mpb_read;          // a line or less, MPB-typed
  Path mpb_write;         // likewise; LogP
  Path uncached_read;     // a word of an MPB or a register
  Path uncached_write;
  Path memory;            // a line or less of DRAM, either way
  PostedWrite posted_mpb;
  PostedWrite posted_uncached;

  std::array<Picoseconds, 9> copy_words;  // instructions that move that many words; [1..8]
  Picoseconds l2;
  Picoseconds write_back;     // on top of Path memory
  Picoseconds invalidate;
  Picoseconds poll;
  Picoseconds mpb_port;       // service times
  Picoseconds memory_port;
  Picoseconds fpga_port;
  Picoseconds fpga_one_way;
  Picoseconds interrupt_controller;
  Picoseconds interrupt_entry;
  Picoseconds interrupt_return;

  // The cost of a call of put and get besides its lines, for their implementations (Core::charge).
  Picoseconds put_mpb_call;
  Picoseconds get_mpb_call;
  Picoseconds put_memory_call;
  Picoseconds get_memory_call;
};

}  // namespace ingot::scc::transport_scc
