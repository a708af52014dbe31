// How long requests take on the chip, in virtual time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "replication/client/replica_client.h"

namespace ingot::inline services_scc {

// Upper bounds of the buckets in nanoseconds, 10 us to 1 s; the last bucket holds the rest.
inline constexpr std::array<std::uint64_t, 16> kVirtualLatencyBoundsNs{
    10'000,    20'000,    50'000,     100'000,    200'000,    500'000,     1'000'000,   2'000'000,
    5'000'000, 10'000'000, 20'000'000, 50'000'000, 100'000'000, 200'000'000, 500'000'000, 1'000'000'000};

struct LatencyCounts {
  std::array<std::uint64_t, kVirtualLatencyBoundsNs.size() + 1> buckets{};
  std::uint64_t count = 0;
  std::uint64_t sum_ps = 0;

  void add(std::uint64_t ps) {
    const auto& bounds = kVirtualLatencyBoundsNs;
    ++buckets[static_cast<std::size_t>(std::lower_bound(bounds.begin(), bounds.end(), ps / 1000) - bounds.begin())];
    ++count;
    sum_ps += ps;
  }
};

struct RequestLatencies {
  LatencyCounts commands;
  LatencyCounts queries;

  // A standing query waits for others, so its time says nothing.
  void add(RequestKind kind, std::uint64_t ps) {
    if (kind != RequestKind::kStandingQuery) (kind == RequestKind::kCommand ? commands : queries).add(ps);
  }
};

}  // namespace ingot::services_scc
