// The geometry of the SCC: 6 x 4 tiles of two cores, four memory controllers, and the routes of packets.
//
// Core id = 12 y + 2 x + z: tile (x, y) = column and row, z = 0 for the left core of a tile and 1 for the right one.
// All functions are pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace ingot::scc::inline transport_scc {

inline constexpr int kColumns = 6;
inline constexpr int kRows = 4;
inline constexpr int kTiles = kColumns * kRows;
inline constexpr int kCores = 2 * kTiles;
inline constexpr int kControllers = 4;
inline constexpr std::size_t kLineBytes = 32;
inline constexpr std::size_t kMpbBytesPerCore = 8192;
inline constexpr std::size_t kMpbLinesPerCore = kMpbBytesPerCore / kLineBytes;

constexpr bool is_core(int core) { return core >= 0 && core < kCores; }

constexpr int tile_of(int core) { return core / 2; }
constexpr int column_of_tile(int tile) { return tile % kColumns; }
constexpr int row_of_tile(int tile) { return tile / kColumns; }
constexpr int tile_at(int column, int row) { return row * kColumns + column; }
constexpr int core_at(int column, int row, int z) { return 2 * tile_at(column, row) + z; }

// Links between the routers of two tiles; XY routing goes along the row first, then along the column.
constexpr int hops(int tile_a, int tile_b) {
  const int columns = column_of_tile(tile_a) - column_of_tile(tile_b);
  const int rows = row_of_tile(tile_a) - row_of_tile(tile_b);
  return (columns < 0 ? -columns : columns) + (rows < 0 ? -rows : rows);
}

// Routers that a packet passes: 1 inside a tile, 9 at most. The `d` of the OC-Bcast paper, the `n` of the latencies.
constexpr int routers(int tile_a, int tile_b) { return hops(tile_a, tile_b) + 1; }
inline constexpr int kRoutersMax = kColumns + kRows - 1;

// Controllers 0..3 are at tiles (0,0), (5,0), (0,2), (5,2); each serves the quadrant of 12 cores around it.
constexpr int controller_tile(int controller) {
  return tile_at(controller % 2 == 0 ? 0 : kColumns - 1, controller < 2 ? 0 : 2);
}
constexpr int controller_of(int core) {
  const int tile = tile_of(core);
  return (column_of_tile(tile) < kColumns / 2 ? 0 : 1) + (row_of_tile(tile) < kRows / 2 ? 0 : 2);
}

// The router where the FPGA with its counters and its interrupt controller is attached.
inline constexpr int kFpgaTile = tile_at(3, 0);

static_assert(core_at(5, 3, 1) == kCores - 1 && hops(0, kTiles - 1) + 1 == kRoutersMax);
static_assert(controller_tile(controller_of(0)) == tile_at(0, 0));
static_assert(controller_tile(controller_of(kCores - 1)) == tile_at(5, 2));

}  // namespace ingot::scc::transport_scc
