// Which units of a generation are free: in private memory of the writer, since no reader needs it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "replication/view/generation/layout.h"

namespace ingot::inline replication_view_generation {

// Blocks of one unit and more. Small ones that come back are kept by their size; new ones are taken in ascending order
// from one run, so that keys which are loaded in order lie in order. Not thread-safe.
class Space {
 public:
  // Units [first, end) are free.
  Space(NodeRef first, std::uint64_t end);

  // 0: no block is that long; allocate() has then exhausted the space. REQUIRES: units > 0.
  NodeRef allocate(std::uint64_t units);
  NodeRef try_allocate(std::uint64_t units);
  void free(NodeRef at, std::uint64_t units);

  std::uint64_t units() const { return units_; }
  std::uint64_t allocated() const { return allocated_; }
  std::uint64_t high_water() const { return high_water_; }  // no block that ends behind it was ever allocated
  bool exhausted() const { return exhausted_; }             // an allocation has failed

 private:
  static constexpr std::uint64_t kSmallUnits = 64;  // blocks of fewer units are kept by size

  NodeRef carve(std::uint64_t units);
  NodeRef take_best(std::uint64_t units);
  NodeRef take_from_run(std::uint64_t units);
  void add_span(std::uint64_t at, std::uint64_t units);
  void remove_span(std::map<std::uint64_t, std::uint64_t>::iterator span);
  void join_small();

  const std::uint64_t units_;
  std::array<std::vector<NodeRef>, kSmallUnits> small_;
  std::map<std::uint64_t, std::uint64_t> spans_;                      // begin to units; no two touch
  std::set<std::pair<std::uint64_t, std::uint64_t>> spans_by_units_;  // units, begin
  std::uint64_t run_at_;
  std::uint64_t run_end_;
  std::uint64_t allocated_ = 0;
  std::uint64_t high_water_;
  bool exhausted_ = false;
};

}  // namespace ingot::replication_view_generation
