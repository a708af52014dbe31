// What it costs each replica to handle a message, compared with the others, and whether that is still what the trees
// were planned for. A noisy neighbour on an endpoint's core shows here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ingot::inline replication_replica_trees {

// Totals since an arbitrary start, by replica, as in the pages.
struct CostTotals {
  std::uint64_t busy_ns = 0;           // spent in rounds that found work
  std::uint64_t handled_messages = 0;  // received or sent
};

// A replica's cost is its busy time per message, divided by the median of all. A leaf's messages cost more than an
// inner endpoint's: it applies each one and forwards none. So an inner endpoint at a multiple of the median is
// certainly slow. Pure: totals in, factors out. Not thread-safe.
class CostDrift {
 public:
  explicit CostDrift(int replicas);

  // A window has ended. A replica that handled fewer than kDriftMessagesMin messages in it keeps its factor. `planned`:
  // by replica, the factors that the trees in force were planned with.
  void window(std::span<const CostTotals> totals, std::span<const std::uint8_t> planned);

  // Trees were planned again with slowdown(): the counts of drifted windows start again.
  void planned();

  // By replica, 1 to kSlowdownMax: 1 for replicas that cost no more than kDriftFactor times the median.
  const std::vector<std::uint8_t>& slowdown() const { return slowdown_; }

  // Differs from `planned` by more than kDriftFactor, dearer or cheaper, in kDriftWindows windows in a row.
  bool dearer(int replica) const;
  bool cheaper(int replica) const;

 private:
  std::vector<CostTotals> last_;
  std::vector<std::uint8_t> slowdown_;
  std::vector<int> off_windows_;  // by replica: drifted windows in a row; negative: cheaper
};

}  // namespace ingot::replication_replica_trees
