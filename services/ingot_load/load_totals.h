// The counts of a load. A plain value.
#pragma once

#include <array>
#include <cstdint>

#include "services/ingot_load/latency_histogram.h"

namespace ingot::load {

struct LoadTotals {
  static constexpr int kCodes = 17;  // gRPC's status codes

  std::uint64_t acknowledged = 0;
  std::uint64_t failed = 0;   // certainly not carried out
  std::uint64_t unknown = 0;  // may have been carried out
  std::array<std::uint64_t, kCodes> by_code{};
  LatencyHistogram reads, writes;  // of acknowledged requests, from their (intended) start to their answer
  // Only with a ledger: reads that contradict it.
  std::uint64_t stale_reads = 0;    // linearizable, but older than a write acknowledged before they began
  std::uint64_t corrupt_reads = 0;  // a value without the stamp of its key

  std::uint64_t operations() const { return acknowledged + failed + unknown; }

  LatencyHistogram latency() const {
    LatencyHistogram all = reads;
    all.merge(writes);
    return all;
  }

  void merge(const LoadTotals& other) {
    acknowledged += other.acknowledged;
    failed += other.failed;
    unknown += other.unknown;
    for (int i = 0; i < kCodes; ++i) by_code[i] += other.by_code[i];
    reads.merge(other.reads);
    writes.merge(other.writes);
    stale_reads += other.stale_reads;
    corrupt_reads += other.corrupt_reads;
  }
};

}  // namespace ingot::load
