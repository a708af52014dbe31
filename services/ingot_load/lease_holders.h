// Leases that are kept alive while a run's requests are made.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "services/ingot_load/latency_histogram.h"
#include "services/ingot_load/load_options.h"

namespace ingot::load {

struct LeaseTotals {
  LatencyHistogram kept;            // keep-alives that were answered, from their request on
  std::uint64_t ended = 0;          // leases that this program, or its server, has not kept alive in time
  std::uint64_t ended_early = 0;    // leases that ended though they were kept alive
  std::uint64_t reopened = 0;       // streams that were lost
};

// Each lease is kept alive three times in its TTL, evenly spread, on as many streams as the run has connections. They
// are not revoked: they end by themselves after the run. Used by one thread.
class LeaseHolders {
 public:
  // Grants options.leases of them, and begins to keep them alive. Errors: those of a call.
  // REQUIRES: valid options, with at least one lease. `options` outlives it.
  static absl::StatusOr<std::unique_ptr<LeaseHolders>> grant(const LoadOptions& options);
  ~LeaseHolders();

  LeaseTotals totals() const;

 private:
  class Stream;

  LeaseHolders();

  std::vector<std::unique_ptr<Stream>> streams_;
};

}  // namespace ingot::load
