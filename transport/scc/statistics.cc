#include "transport/scc/statistics.h"

namespace ingot::scc::inline transport_scc {
namespace {

// Adds `packets` to every link on the way: columns first, then rows.
void route(LinkLoads& loads, int from, int to, std::uint64_t packets) {
  int column = column_of_tile(from), row = row_of_tile(from);
  const auto step = [&](Direction direction, int& coordinate, int change) {
    loads[static_cast<std::size_t>(tile_at(column, row))][static_cast<std::size_t>(direction)] += packets;
    coordinate += change;
  };
  while (column < column_of_tile(to)) step(Direction::kEast, column, 1);
  while (column > column_of_tile(to)) step(Direction::kWest, column, -1);
  while (row < row_of_tile(to)) step(Direction::kSouth, row, 1);
  while (row > row_of_tile(to)) step(Direction::kNorth, row, -1);
}

void there_and_back(LinkLoads& loads, int from, int to, std::uint64_t packets) {
  if (packets == 0) return;
  route(loads, from, to, packets);
  route(loads, to, from, packets);
}

}  // namespace

LinkLoads link_loads(const Statistics& statistics) {
  LinkLoads loads{};
  for (std::size_t from = 0; from < kTiles; ++from) {
    const int tile = static_cast<int>(from);
    for (std::size_t to = 0; to < kTiles; ++to) {
      there_and_back(loads, tile, static_cast<int>(to), statistics.tile_to_tile[from][to]);
    }
    for (std::size_t i = 0; i < kControllers; ++i) {
      there_and_back(loads, tile, controller_tile(static_cast<int>(i)), statistics.tile_to_controller[from][i]);
    }
    there_and_back(loads, tile, kFpgaTile, statistics.tile_to_fpga[from]);
  }
  return loads;
}

}  // namespace ingot::scc::transport_scc
