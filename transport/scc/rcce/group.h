// The cores that take part in an operation, in ascending order. A core's rank is its place in that order. A plain
// value; const use is safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "core/check.h"
#include "transport/scc/geometry.h"

namespace ingot::scc::inline transport_scc_rcce {

class Group {
 public:
  // Errors: INVALID_ARGUMENT: no core, a number outside of 0 to 47, a core twice.
  static absl::StatusOr<Group> create(std::span<const int> cores);
  // Cores 0 to n - 1. REQUIRES: 1 <= n <= kCores.
  static Group first(int n);

  int size() const { return static_cast<int>(cores_.size()); }
  const std::vector<int>& cores() const { return cores_; }
  int core(int rank) const { return cores_[static_cast<std::size_t>(rank)]; }
  bool contains(int core) const { return is_core(core) && ranks_[static_cast<std::size_t>(core)] >= 0; }
  // REQUIRES: contains(core).
  int rank(int core) const {
    INGOT_CHECK(contains(core), "this core does not take part");
    return ranks_[static_cast<std::size_t>(core)];
  }

  // Ranks counted from a root, which has 0.
  int relative(int core, int root) const { return (rank(core) - rank(root) + size()) % size(); }
  int core_at(int relative, int root) const { return this->core((relative + rank(root)) % size()); }

 private:
  Group() { ranks_.fill(-1); }

  std::vector<int> cores_;
  std::array<std::int8_t, kCores> ranks_;
};

}  // namespace ingot::scc::transport_scc_rcce
