// Finds the highest open-loop rate whose 99th percentile of latency stays below a target.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "services/ingot_load/load_engine.h"
#include "services/ingot_load/load_options.h"

namespace ingot::load {

// One measurement.
struct TargetStep {
  double rate_per_s = 0;  // 0: a closed loop, which comes first and bounds the search
  double done_per_s = 0;  // acknowledged
  std::uint64_t p50_ns = 0;
  std::uint64_t p99_ns = 0;
  double missed_share = 0;  // of the requests due: those that took longer than the target, were not acknowledged, or
                            // were not started because every client was busy
  double late_share = 0;    // the last of these
  bool held = false;        // missed_share is at most 1 %
};

struct TargetResult {
  std::optional<double> rate_per_s;    // the answer; nothing: no rate held
  std::optional<double> missed_per_s;  // the lowest rate that did not hold
  std::uint64_t p99_ns = 0;            // at the answer: of the worst measurement that held
  double floor_per_s = 0;              // no lower rate was tried
  bool interrupted = false;            // by `stop`: the answer is what was known by then
  bool ended_by_bound = false;         // by the number of measurements
  bool clients_bound = false;          // at missed_per_s every client was busy at times: more of them may allow more
  std::vector<TargetStep> steps;       // as they were measured
};

// Each measurement takes options.duration. Calls `step` after each, and `progress` during it, as run_load does. Errors:
// those of run_load; UNAVAILABLE if the closed loop gets no answer at all. REQUIRES: valid options, without a rate.
absl::StatusOr<TargetResult> search_target(const LoadOptions& options, std::chrono::nanoseconds target_p99,
                                           std::chrono::milliseconds progress_every,
                                           absl::FunctionRef<void(const LoadProgress&)> progress,
                                           absl::FunctionRef<void(const TargetStep&)> step,
                                           const std::atomic<bool>& stop);

}  // namespace ingot::load
