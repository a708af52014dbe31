// The values of a replica's page at one moment, with counters that continue across restarts of the replica.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "replication/pages/pages.h"

namespace ingot::inline services_metrics {

// Turns values that restart at 0 with every incarnation of their writer into values that never decrease. Not
// thread-safe.
class CounterResetAdjuster {
 public:
  // How the values of successive incarnations combine: kSum counts events, so incarnations add up; kMax is a place in
  // the agreed order, which a new incarnation climbs again from 0 (or from a snapshot) before it passes the former one.
  enum class Kind : std::uint8_t { kSum, kMax, kGauge };

  // Replaces each of `values` in place. `incarnation` is the writer's; 0 means an incarnation that is not ready yet,
  // whose number may still come. REQUIRES: `values` and `kinds` have equal size, the same in every call.
  void adjust(std::uint64_t incarnation, std::span<const Kind> kinds, std::span<std::uint64_t> values);

 private:
  std::uint64_t incarnation_ = 0;
  std::vector<std::uint64_t> last_;  // as read
  std::vector<std::uint64_t> base_;  // kSum: the total of earlier incarnations; kMax: the highest value returned
  std::vector<bool> ahead_;          // kSum: the value is of a later incarnation than the number that was read with it
};

// One page's values as plain numbers.
class PageSnapshot {
 public:
  explicit PageSnapshot(const ReplicaPage& page);

  // Makes counters continue those of earlier snapshots adjusted with the same adjuster.
  void adjust(CounterResetAdjuster& adjuster);

  // For a replica that does not run: its page still shows what it last waited for.
  void clear_blocked();

  std::uint64_t counter(ReplicaCounter id) const { return values_[static_cast<std::size_t>(id)]; }
  std::uint64_t sent_messages(std::size_t endpoint) const { return values_[kSent + 2 * endpoint]; }
  std::uint64_t sent_bytes(std::size_t endpoint) const { return values_[kSent + 2 * endpoint + 1]; }
  std::uint64_t received_messages(std::size_t endpoint) const { return values_[kReceived + 2 * endpoint]; }
  std::uint64_t received_bytes(std::size_t endpoint) const { return values_[kReceived + 2 * endpoint + 1]; }
  std::uint64_t batches(std::size_t bucket) const { return values_[kBatches + bucket]; }
  std::uint64_t batch_commands_sum() const { return values_[kBatchSum]; }

 private:
  // The offset of each part in values_.
  static constexpr std::size_t kSent = static_cast<std::size_t>(ReplicaCounter::kCount);
  static constexpr std::size_t kReceived = kSent + 2 * kEndpointsMax;
  static constexpr std::size_t kBatches = kReceived + 2 * kEndpointsMax;
  static constexpr std::size_t kBatchSum = kBatches + kBatchBuckets.size() + 1;
  static constexpr std::size_t kValues = kBatchSum + 1;

  static const std::array<CounterResetAdjuster::Kind, kValues>& kinds();

  std::uint64_t incarnation_;
  std::array<std::uint64_t, kValues> values_;
};

}  // namespace ingot::services_metrics
