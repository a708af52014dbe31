#include "replication/replica/trees/costs.h"

#include <algorithm>
#include <cmath>

#include "replication/replica/trees/limits.h"

namespace ingot::inline replication_replica_trees {

CostDrift::CostDrift(int replicas)
    : last_(static_cast<std::size_t>(replicas)),
      slowdown_(static_cast<std::size_t>(replicas), 1),
      off_windows_(static_cast<std::size_t>(replicas)) {}

void CostDrift::window(std::span<const CostTotals> totals, std::span<const std::uint8_t> planned) {
  std::vector<double> cost(last_.size(), 0.0);  // 0: too few messages to tell
  std::vector<double> known;
  for (std::size_t i = 0; i < last_.size(); ++i) {
    // A restarted replica counts from 0.
    const bool goes_on =
        totals[i].busy_ns >= last_[i].busy_ns && totals[i].handled_messages >= last_[i].handled_messages;
    const std::uint64_t messages = goes_on ? totals[i].handled_messages - last_[i].handled_messages : 0;
    if (messages >= kDriftMessagesMin) {
      cost[i] = static_cast<double>(totals[i].busy_ns - last_[i].busy_ns) / static_cast<double>(messages);
      if (cost[i] > 0) known.push_back(cost[i]);
    }
    last_[i] = totals[i];
  }
  if (known.size() < 3) return;  // too few replicas to compare
  std::nth_element(known.begin(), known.begin() + known.size() / 2, known.end());
  const double median = known[known.size() / 2];
  for (std::size_t i = 0; i < last_.size(); ++i) {
    if (cost[i] <= 0) continue;
    const double factor = cost[i] / median;
    slowdown_[i] = static_cast<std::uint8_t>(
        factor <= kDriftFactor ? 1 : std::lround(std::min<double>(factor, kSlowdownMax)));
    int& off = off_windows_[i];
    if (factor > kDriftFactor * planned[i]) {
      off = std::clamp(off + 1, 1, kDriftWindows);
    } else if (planned[i] > 1 && factor * kDriftFactor < planned[i]) {
      off = std::clamp(off - 1, -kDriftWindows, -1);
    } else {
      off = 0;
    }
  }
}

void CostDrift::planned() { std::fill(off_windows_.begin(), off_windows_.end(), 0); }

bool CostDrift::dearer(int replica) const { return off_windows_[replica] == kDriftWindows; }
bool CostDrift::cheaper(int replica) const { return off_windows_[replica] == -kDriftWindows; }

}  // namespace ingot::replication_replica_trees
