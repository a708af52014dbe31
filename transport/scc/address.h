// A core's addresses: 32 bits, of which the upper eight select an entry of its address translation table (LUT) and the
// lower 24 a byte within that entry's 16 MiB.
//
// The table of every core at start (Core::set_lut changes it):
//
//    0x00..0x28   own private memory, cached                        private_address(offset)
//    0x80..0x83   shared memory, one entry per memory controller    shared_address(offset)
//    0xc0..0xd7   the message buffers (MPB) of tiles 0..23          mpb_address(core, offset)
//
// Test-and-set registers and the FPGA's counters have entries of their own on the chip (0xe0.., 0xf9); here Core's
// calls access them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/scc/geometry.h"

namespace ingot::scc::inline transport_scc {

using Address = std::uint32_t;

inline constexpr int kLutEntries = 256;
inline constexpr std::size_t kLutEntryBytes = std::size_t{1} << 24;
inline constexpr int kPrivateEntries = 0x29;
inline constexpr int kSharedEntry = 0x80;
inline constexpr int kSharedEntries = kControllers;
inline constexpr int kMpbEntry = 0xc0;
inline constexpr std::size_t kPrivateBytesMax = kPrivateEntries * kLutEntryBytes;
inline constexpr std::size_t kSharedBytes = kSharedEntries * kLutEntryBytes;

// REQUIRES: offset < ChipOptions::private_bytes.
constexpr Address private_address(std::size_t offset) { return static_cast<Address>(offset); }

// REQUIRES: offset < kSharedBytes. Each 16 MiB belong to another controller.
constexpr Address shared_address(std::size_t offset) {
  return static_cast<Address>(kSharedEntry * kLutEntryBytes + offset);
}

// Byte `offset` of that core's half of its tile's MPB.
// REQUIRES: is_core(core), offset < kMpbBytesPerCore.
constexpr Address mpb_address(int core, std::size_t offset) {
  return static_cast<Address>(static_cast<std::size_t>(kMpbEntry + tile_of(core)) * kLutEntryBytes +
                              static_cast<std::size_t>(core % 2) * kMpbBytesPerCore + offset);
}
constexpr Address mpb_line(int core, std::size_t line) { return mpb_address(core, line * kLineBytes); }

constexpr int lut_entry_of(Address address) { return static_cast<int>(address >> 24); }

// How a core's accesses to an entry behave.
enum class MemoryType : std::uint8_t {
  kNone,      // not mapped: an access is a bug (CHECK)
  kCached,    // L1 and L2, for one core alone; DRAM only
  kUncached,  // every word goes to memory and back separately; never stale
  kMpbTyped,  // loads are kept in L1 only, until invalidate_mpb; stores are collected in the write-combining buffer
};

// One entry of a core's table. `page` is a 16 MiB page of the whole chip's memory (private_page, shared_page in
// chip.h) or a tile.
struct LutEntry {
  enum class Target : std::uint8_t { kNothing, kMemory, kMpb };
  Target target = Target::kNothing;
  MemoryType type = MemoryType::kNone;
  std::uint16_t page = 0;
};

}  // namespace ingot::scc::transport_scc
