#include "services/metrics/page_snapshot.h"

#include <algorithm>

#include "core/check.h"

namespace ingot::inline services_metrics {

void CounterResetAdjuster::adjust(std::uint64_t incarnation, std::span<const Kind> kinds,
                                  std::span<std::uint64_t> values) {
  last_.resize(values.size());
  base_.resize(values.size());
  ahead_.resize(values.size());
  INGOT_CHECK(kinds.size() == values.size());
  const bool other_number = incarnation != incarnation_;
  const bool other_incarnation = other_number && incarnation_ != 0;
  incarnation_ = incarnation;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t read = values[i];
    if (kinds[i] == Kind::kSum) {
      // A value that fell also shows a new incarnation, seen before its number; then the number says nothing new.
      const bool fell = read < last_[i];
      if (fell || (other_incarnation && !ahead_[i])) base_[i] += last_[i];
      ahead_[i] = !other_number && (fell || ahead_[i]);
      values[i] = base_[i] + read;
    } else if (kinds[i] == Kind::kMax) {
      values[i] = base_[i] = std::max(base_[i], read);
    }
    last_[i] = read;
  }
}

PageSnapshot::PageSnapshot(const ReplicaPage& page) : incarnation_(page.incarnation.get_acquire()) {
  std::size_t at = 0;
  for (const Counter& counter : page.counters) values_[at++] = counter.get();
  for (const auto* links : {&page.sent, &page.received}) {
    for (const LinkCounters& link : *links) {
      values_[at++] = link.messages.get();
      values_[at++] = link.bytes.get();
    }
  }
  for (const Counter& bucket : page.batch_commands) values_[at++] = bucket.get();
  values_[at++] = page.batch_commands_sum.get();
  INGOT_CHECK(at == kValues);
}

const std::array<CounterResetAdjuster::Kind, PageSnapshot::kValues>& PageSnapshot::kinds() {
  static const auto kinds = [] {
    std::array<CounterResetAdjuster::Kind, kValues> all;
    all.fill(CounterResetAdjuster::Kind::kSum);
    for (std::size_t i = 0; i < kReplicaCounterSpecs.size(); ++i)
      if (kReplicaCounterSpecs[i].kind == CounterKind::kGauge) all[i] = CounterResetAdjuster::Kind::kGauge;
    for (const ReplicaCounter slots : {ReplicaCounter::kDecidedSlots, ReplicaCounter::kAppliedSlots})
      all[static_cast<std::size_t>(slots)] = CounterResetAdjuster::Kind::kMax;
    return all;
  }();
  return kinds;
}

void PageSnapshot::adjust(CounterResetAdjuster& adjuster) { adjuster.adjust(incarnation_, kinds(), values_); }

void PageSnapshot::clear_blocked() {
  for (const ReplicaCounter id : {ReplicaCounter::kBlocked, ReplicaCounter::kBlockedBy, ReplicaCounter::kBlockedWhy,
                                  ReplicaCounter::kBlockedFrom, ReplicaCounter::kBlockedTo}) {
    values_[static_cast<std::size_t>(id)] = 0;
  }
}

}  // namespace ingot::services_metrics
