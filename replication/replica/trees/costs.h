// What it costs each replica to handle a message, beside the others, and whether that is still what the trees were
// planned for: a noisy neighbour on an endpoint's core shows here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ingot {

// Totals since some beginning, by replica; as in the pages.
struct CostTotals {
  std::uint64_t busy_ns = 0;           // spent in rounds that found work
  std::uint64_t handled_messages = 0;  // received and sent
};

// A replica's cost is its busy time per message, over the median of all. A leaf's messages cost more than an inner
// endpoint's, since each that it receives it also applies, and it sends none; so an inner endpoint that costs a
// multiple of the median is slow beyond doubt. Pure: totals in, factors out. Not thread-safe.
class CostDrift {
 public:
  explicit CostDrift(int replicas);

  // A window has ended. A replica that handled fewer than kDriftMessagesMin messages in it keeps its factor.
  // `planned`: by replica, what the trees in force were planned for.
  void window(std::span<const CostTotals> totals, std::span<const std::uint8_t> planned);

  // Trees were planned anew from slowdown(): what was off has to show again.
  void planned();

  // By replica, 1 to kSlowdownMax: 1 for all that cost no more than kDriftFactor times the median.
  const std::vector<std::uint8_t>& slowdown() const { return slowdown_; }

  // Off by more than kDriftFactor from `planned`, dearer or cheaper, in kDriftWindows windows in a row.
  bool dearer(int replica) const;
  bool cheaper(int replica) const;

 private:
  std::vector<CostTotals> last_;
  std::vector<std::uint8_t> slowdown_;
  std::vector<int> off_windows_;  // by replica: in a row; negative: cheaper
};

}  // namespace ingot
