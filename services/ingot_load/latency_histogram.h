// Counts durations in buckets whose width grows with the value, as HdrHistogram does: 128 linear buckets for each
// doubling, so a quantile is at most 1/128 (0.8 %) above the true one, whatever the range.
//
// Values are nanoseconds from 0 to kNanosecondsMax (about 18 minutes); longer ones count as that. max() is exact. Not
// thread-safe. 33 KiB each; copies and merges are cheap enough for once a second.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/check.h"

namespace ingot::load {

class LatencyHistogram {
 public:
  static constexpr int kSubBits = 7;    // 2^7 buckets for each doubling
  static constexpr int kValueBits = 40;
  static constexpr std::uint64_t kNanosecondsMax = (std::uint64_t{1} << kValueBits) - 1;

  LatencyHistogram() : buckets_(bucket_of(kNanosecondsMax) + 1) {}

  void record(std::uint64_t ns) {
    ++buckets_[bucket_of(std::min(ns, kNanosecondsMax))];
    ++count_;
    max_ns_ = std::max(max_ns_, ns);
  }

  void merge(const LatencyHistogram& other) {
    for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    max_ns_ = std::max(max_ns_, other.max_ns_);
  }

  // The values recorded since `earlier`, a former copy of this histogram. max() remains the overall one.
  LatencyHistogram since(const LatencyHistogram& earlier) const {
    LatencyHistogram result = *this;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      INGOT_CHECK(buckets_[i] >= earlier.buckets_[i], "not a former copy");
      result.buckets_[i] -= earlier.buckets_[i];
    }
    result.count_ -= earlier.count_;
    return result;
  }

  std::uint64_t count() const { return count_; }
  std::uint64_t max_ns() const { return max_ns_; }

  // The smallest bound that a share q (0 to 1) of all recorded values do not exceed: the upper end of a bucket, but
  // never more than max_ns(). 0 if nothing was recorded.
  std::uint64_t quantile_ns(double q) const {
    if (count_ == 0) return 0;
    const auto rank = static_cast<std::uint64_t>(std::ceil(std::clamp(q, 0.0, 1.0) * static_cast<double>(count_)));
    const std::uint64_t wanted = std::clamp<std::uint64_t>(rank, 1, count_);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      seen += buckets_[i];
      if (seen >= wanted) return std::min(highest_in(i), max_ns_);
    }
    return max_ns_;
  }

  // How many recorded values are at most `ns`, up to the bucket's width: values of its own bucket count.
  std::uint64_t count_up_to(std::uint64_t ns) const {
    const std::size_t last = bucket_of(std::min(ns, kNanosecondsMax));
    std::uint64_t count = 0;
    for (std::size_t i = 0; i <= last; ++i) count += buckets_[i];
    return count;
  }

 private:
  // Below 2^kSubBits each value is its own bucket. Above, a value whose highest bit is kSubBits + s falls into group
  // s + 1, and its next kSubBits bits choose the bucket within the group.
  static std::size_t bucket_of(std::uint64_t ns) {
    const int shift = std::max(0, static_cast<int>(std::bit_width(ns)) - 1 - kSubBits);
    return (static_cast<std::size_t>(shift) << kSubBits) + static_cast<std::size_t>(ns >> shift);
  }

  static std::uint64_t highest_in(std::size_t bucket) {
    constexpr std::size_t kSubBuckets = std::size_t{1} << kSubBits;
    if (bucket < 2 * kSubBuckets) return bucket;
    const std::size_t shift = (bucket >> kSubBits) - 1;
    const std::uint64_t top = (bucket & (kSubBuckets - 1)) + kSubBuckets;
    return ((top + 1) << shift) - 1;
  }

  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  std::uint64_t max_ns_ = 0;
};

}  // namespace ingot::load
