#include "services/ingot_load/target_search.h"

#include <algorithm>
#include <utility>

#include "services/ingot_load/limits.h"
#include "services/ingot_load/rate_search.h"

namespace ingot::load {
namespace {

constexpr double kMissedShareMax = 0.01;  // what lies above a 99th percentile
constexpr double kCeiling = 1.25;         // of the closed loop's rate, whose measurement may have been disturbed
constexpr double kLateShareSeen = 0.001;  // of requests that found every client busy, worth a hint

TargetStep judge(double rate_per_s, const LoadResult& result, std::chrono::nanoseconds target) {
  const LatencyHistogram latency = result.totals.latency();
  const auto due = static_cast<double>(result.totals.operations() + result.not_started);
  const auto target_ns = static_cast<std::uint64_t>(target.count());
  TargetStep step;
  step.rate_per_s = rate_per_s;
  step.done_per_s = result.throughput_per_s();
  step.p50_ns = latency.quantile_ns(0.5);
  step.p99_ns = latency.quantile_ns(0.99);
  if (due == 0) return step;
  step.missed_share = 1 - static_cast<double>(latency.count_up_to(target_ns)) / due;
  step.late_share = static_cast<double>(result.not_started) / due;
  step.held = step.missed_share <= kMissedShareMax;
  return step;
}

}  // namespace

absl::StatusOr<TargetResult> search_target(const LoadOptions& options, std::chrono::nanoseconds target_p99,
                                           std::chrono::milliseconds progress_every,
                                           absl::FunctionRef<void(const LoadProgress&)> progress,
                                           absl::FunctionRef<void(const TargetStep&)> step,
                                           const std::atomic<bool>& stop) {
  TargetResult result;
  LoadOptions run = options;
  const auto measure = [&](double rate_per_s) -> absl::StatusOr<TargetStep> {
    run.rate_per_s = rate_per_s;
    run.seed = options.seed + result.steps.size();
    const auto loaded = run_load(run, progress_every, progress, stop);
    if (!loaded.ok()) return loaded.status();
    const TargetStep measured = judge(rate_per_s, *loaded, target_p99);
    if (!stop) {
      result.steps.push_back(measured);
      step(measured);
    }
    return measured;
  };

  const auto closed = measure(0);
  if (!closed.ok()) return closed.status();
  if (closed->done_per_s <= 0) return absl::UnavailableError("no request was acknowledged");
  result.floor_per_s = kTargetRequestsMin / std::chrono::duration<double>(options.duration).count();
  RateSearch search(kCeiling * closed->done_per_s, result.floor_per_s);
  while (!stop) {
    const std::optional<double> rate = search.next();
    if (!rate) break;
    const auto measured = measure(*rate);
    if (!measured.ok()) return measured.status();
    if (!stop) search.measured(measured->held);
  }
  result.interrupted = stop;
  result.ended_by_bound = search.ended_by_bound();
  result.rate_per_s = search.highest_held();
  result.missed_per_s = search.lowest_missed();
  for (const TargetStep& each : result.steps) {
    if (each.held && each.rate_per_s == result.rate_per_s) result.p99_ns = std::max(result.p99_ns, each.p99_ns);
    result.clients_bound |= each.rate_per_s == result.missed_per_s && each.late_share > kLateShareSeen;
  }
  return result;
}

}  // namespace ingot::load
