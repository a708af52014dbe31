#include "transport/scc/broadcast/neighbours.h"

#include <algorithm>

namespace ingot::scc::inline transport_scc_broadcast {
namespace {

struct Rectangle {
  int left = 0, top = 0, right = -1, bottom = -1;  // right and bottom included

  int area() const { return (right - left + 1) * (bottom - top + 1); }
  bool contains(int column, int row) const {
    return column >= left && column <= right && row >= top && row <= bottom;
  }
  bool on_edge(int column, int row) const {
    return !contains(column, row) || column == left || column == right || row == top || row == bottom;
  }
};

// The core that receives and forwards for each cell, or -1.
class Grid {
 public:
  Grid(const Group& group, Cells cells)
      : per_cell_(cells == Cells::kTiles ? 2 : 1), columns_(2 * kColumns / per_cell_) {
    cores_.fill(-1);
    for (const int core : group.cores()) {  // ascending: a tile's left core comes first
      int& speaker = cores_[static_cast<std::size_t>(core / per_cell_)];
      if (speaker < 0) speaker = core;
    }
  }

  int columns() const { return columns_; }
  int column(int core) const { return core / per_cell_ % columns_; }
  int row(int core) const { return core / per_cell_ / columns_; }
  int at(int column, int row) const { return cores_[static_cast<std::size_t>(row * columns_ + column)]; }

  bool full(const Rectangle& r) const {
    for (int row = r.top; row <= r.bottom; ++row) {
      for (int column = r.left; column <= r.right; ++column) {
        if (at(column, row) < 0) return false;
      }
    }
    return true;
  }

  Rectangle largest_full() const {
    Rectangle best;
    for (int top = 0; top < kRows; ++top) {
      for (int left = 0; left < columns_; ++left) {
        for (int bottom = top; bottom < kRows; ++bottom) {
          for (int right = left; right < columns_; ++right) {
            const Rectangle tried{left, top, right, bottom};
            if (tried.area() > best.area() && full(tried)) best = tried;
          }
        }
      }
    }
    return best;
  }

 private:
  const int per_cell_;
  const int columns_;
  std::array<int, kCores> cores_;
};

// XY order: along the row first; each cell reached along the row starts its column. So each cell is reached once. The
// row's neighbours come first, since they have the longest remaining way.
void spread(const Grid& grid, const Rectangle& within, int from, Forwarding& to) {
  const auto walk = [&](int core, int dx, int dy, auto& visit) {
    int last = core, column = grid.column(core) + dx, row = grid.row(core) + dy;
    for (; within.contains(column, row) && grid.at(column, row) >= 0; column += dx, row += dy) {
      to[static_cast<std::size_t>(last)].push_back(grid.at(column, row));
      last = grid.at(column, row);
      visit(last);
    }
  };
  std::vector<int> row{from};
  const auto remember = [&](int core) { row.push_back(core); };
  const auto ignore = [](int) {};
  walk(from, 1, 0, remember);
  walk(from, -1, 0, remember);
  for (const int core : row) {
    walk(core, 0, -1, ignore);
    walk(core, 0, 1, ignore);
  }
}

}  // namespace

Forwarding forward_to_neighbours(const Group& group, int source, Cells cells, bool from_centre) {
  const Grid grid(group, cells);
  Forwarding to;
  Rectangle within{0, 0, grid.columns() - 1, kRows - 1};
  const int speaker = grid.at(grid.column(source), grid.row(source));
  int broadcaster = speaker;
  if (from_centre) {
    within = grid.largest_full();
    if (within.on_edge(grid.column(source), grid.row(source))) {
      broadcaster = grid.at((within.left + within.right) / 2, (within.top + within.bottom) / 2);
    }
  }
  spread(grid, within, broadcaster, to);
  if (cells == Cells::kTiles) {
    for (const int core : group.cores()) {
      const int cell = grid.at(grid.column(core), grid.row(core));
      if (cell != core && core != source) to[static_cast<std::size_t>(cell)].push_back(core);
    }
  }
  std::array<bool, kCores> reached{};
  reached[static_cast<std::size_t>(source)] = true;
  for (auto& children : to) {  // the source has the message already
    std::erase(children, source);
    for (const int child : children) reached[static_cast<std::size_t>(child)] = true;
  }
  auto& first = to[static_cast<std::size_t>(source)];
  if (broadcaster != source) {
    // Its core may have no parent, or be the child of a cell that waits for the broadcaster: both are right.
    first.insert(first.begin(), broadcaster);
    reached[static_cast<std::size_t>(broadcaster)] = true;
  }
  for (const int core : group.cores()) {  // outside: unicasts from the broadcaster
    const int cell = grid.at(grid.column(core), grid.row(core));
    if (reached[static_cast<std::size_t>(core)] || (cell != core && reached[static_cast<std::size_t>(cell)])) continue;
    to[static_cast<std::size_t>(broadcaster)].push_back(core);
  }
  return to;
}

}  // namespace ingot::scc::transport_scc_broadcast
