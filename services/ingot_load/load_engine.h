// Drives a load through a server of etcd's key-value API and measures it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "services/ingot_load/lease_holders.h"
#include "services/ingot_load/load_options.h"
#include "services/ingot_load/load_totals.h"
#include "services/ingot_load/watchers.h"
#include "services/ingot_load/write_ledger.h"

namespace ingot::load {

struct LoadResult {
  LoadTotals totals;
  double elapsed_s = 0;     // from the start to the run's set end, or to the last answer if the run ended otherwise;
                            // answers after the set end do not prolong it
  double gap_ms_max = 0;    // the longest time without an acknowledged write, from start to end of the run
  std::uint64_t not_started = 0;  // open loop: requests whose time came while no client was free, until the end
  WriteLedger ledger{0, 0};       // of options.run; empty unless options.keep_ledger
  // Of what was open or kept meanwhile (watchers.h, lease_holders.h), by the caller of run_load.
  std::optional<WatchTotals> watches;
  std::optional<LeaseTotals> leases;

  double throughput_per_s() const {
    return elapsed_s > 0 ? static_cast<double>(totals.acknowledged) / elapsed_s : 0;
  }
};

struct LoadProgress {
  double elapsed_s = 0;
  LoadTotals totals;  // since the start
};

// Connects (for at most options.timeout), runs the load, and waits for the outcome of every request. Calls `progress`
// from this thread every `progress_every`. `stop`, which any thread or signal handler may set, ends the run early. The
// server may fail and return in between; Unavailable, with a sentence, only if it cannot be reached at the start.
// REQUIRES: valid options.
absl::StatusOr<LoadResult> run_load(const LoadOptions& options, std::chrono::milliseconds progress_every,
                                    absl::FunctionRef<void(const LoadProgress&)> progress,
                                    const std::atomic<bool>& stop);

}  // namespace ingot::load
