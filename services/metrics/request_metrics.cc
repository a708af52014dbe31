#include "services/metrics/request_metrics.h"

#include <algorithm>
#include <string>

#include "core/check.h"

namespace ingot::inline services_metrics {
namespace {

constexpr RequestMetrics::MethodName kNames[] = {
#define INGOT_X(id, service, method) {service, method},
    INGOT_METHODS(INGOT_X)
#undef INGOT_X
};

// Names by value, as in gRPC's specification.
constexpr const char* kCodeNames[] = {
    "OK",        "CANCELLED",        "UNKNOWN",           "INVALID_ARGUMENT",    "DEADLINE_EXCEEDED", "NOT_FOUND",
    "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED",   "OUT_OF_RANGE",
    "UNIMPLEMENTED",  "INTERNAL",          "UNAVAILABLE",        "DATA_LOSS",           "UNAUTHENTICATED"};

// How long a stream takes depends on its client, and a lock on who holds it: that is no latency of the server.
bool is_stream(std::size_t method) {
  return method == static_cast<std::size_t>(Method::kWatch) ||
         method == static_cast<std::size_t>(Method::kLeaseKeepAlive) ||
         method == static_cast<std::size_t>(Method::kMaintenanceSnapshot) ||
         method == static_cast<std::size_t>(Method::kLockLock) ||
         method == static_cast<std::size_t>(Method::kElectionCampaign) ||
         method == static_cast<std::size_t>(Method::kElectionObserve) ||
         method == static_cast<std::size_t>(Method::kControlWatchStatus) ||
         method == static_cast<std::size_t>(Method::kControlDrill);
}

std::vector<prometheus::ClientMetric::Label> labels(std::size_t method) {
  return {{"service", kNames[method].service}, {"method", kNames[method].method}};
}

// Each thread gets a shard at its first request and keeps it; the shards are given out in turn.
std::size_t shard_of_this_thread() {
  static std::atomic<std::size_t> next{0};
  thread_local const std::size_t mine = next.fetch_add(1, std::memory_order_relaxed) % kRequestMetricShards;
  return mine;
}

}  // namespace

RequestMetrics::PerMethod& RequestMetrics::mine(Method method) {
  return shards_[shard_of_this_thread()].methods[static_cast<std::size_t>(method)];
}

void RequestMetrics::started(Method method) { mine(method).started.fetch_add(1, std::memory_order_relaxed); }

void RequestMetrics::finished(Method method, grpc::StatusCode code, std::chrono::nanoseconds latency) {
  static_assert(std::size(kCodeNames) == kCodes && std::size(kNames) == kMethods);
  const auto code_index = static_cast<std::size_t>(code);
  INGOT_CHECK(code_index < kCodes);
  PerMethod& counts = mine(method);
  counts.finished[code_index].fetch_add(1, std::memory_order_relaxed);
  const auto bucket = std::lower_bound(kLatencyBucketsNs.begin(), kLatencyBucketsNs.end(), latency.count());
  counts.latency[static_cast<std::size_t>(bucket - kLatencyBucketsNs.begin())].fetch_add(1, std::memory_order_relaxed);
  counts.latency_sum_ns.fetch_add(static_cast<std::uint64_t>(latency.count()), std::memory_order_relaxed);
}

template <typename Pick>
std::uint64_t RequestMetrics::sum(Pick pick) const {
  std::uint64_t total = 0;
  for (const Shard& shard : shards_) total += pick(shard).load(std::memory_order_relaxed);
  return total;
}

RequestMetrics::MethodName RequestMetrics::name_of(Method method) { return kNames[static_cast<std::size_t>(method)]; }

std::uint64_t RequestMetrics::started_count(Method method) const {
  const auto m = static_cast<std::size_t>(method);
  return sum([m](const Shard& s) -> const Cell& { return s.methods[m].started; });
}

std::uint64_t RequestMetrics::finished_count(Method method, grpc::StatusCode code) const {
  const auto m = static_cast<std::size_t>(method), c = static_cast<std::size_t>(code);
  return sum([m, c](const Shard& s) -> const Cell& { return s.methods[m].finished[c]; });
}

prometheus::ClientMetric::Histogram RequestMetrics::latency_of(Method method) const {
  const auto m = static_cast<std::size_t>(method);
  prometheus::ClientMetric::Histogram histogram;
  for (std::size_t b = 0; b < kLatencyBucketsNs.size(); ++b) {
    histogram.sample_count += sum([m, b](const Shard& s) -> const Cell& { return s.methods[m].latency[b]; });
    histogram.bucket.push_back({histogram.sample_count, static_cast<double>(kLatencyBucketsNs[b]) * 1e-9});
  }
  histogram.sample_count += sum(
      [m](const Shard& s) -> const Cell& { return s.methods[m].latency[kLatencyBucketsNs.size()]; });
  histogram.sample_sum = 1e-9 * static_cast<double>(sum(
                                    [m](const Shard& s) -> const Cell& { return s.methods[m].latency_sum_ns; }));
  return histogram;
}

prometheus::MetricFamily RequestMetrics::collect_started() const {
  prometheus::MetricFamily family{"ingot_grpc_requests_started_total", "gRPC requests that have begun.",
                                  prometheus::MetricType::Counter, {}};
  for (std::size_t m = 0; m < kMethods; ++m) {
    prometheus::ClientMetric metric;
    metric.label = labels(m);
    metric.counter.value = static_cast<double>(started_count(static_cast<Method>(m)));
    family.metric.push_back(std::move(metric));
  }
  return family;
}

// OK is always present, so that rates have a start; other codes once they have occurred.
prometheus::MetricFamily RequestMetrics::collect_finished() const {
  prometheus::MetricFamily family{"ingot_grpc_requests_total", "gRPC requests that have ended, by status code.",
                                  prometheus::MetricType::Counter, {}};
  for (std::size_t m = 0; m < kMethods; ++m) {
    for (std::size_t c = 0; c < kCodes; ++c) {
      const std::uint64_t count = finished_count(static_cast<Method>(m), static_cast<grpc::StatusCode>(c));
      if (count == 0 && c != 0) continue;
      prometheus::ClientMetric metric;
      metric.label = labels(m);
      metric.label.push_back({"code", kCodeNames[c]});
      metric.counter.value = static_cast<double>(count);
      family.metric.push_back(std::move(metric));
    }
  }
  return family;
}

prometheus::MetricFamily RequestMetrics::collect_latency() const {
  prometheus::MetricFamily family{"ingot_grpc_request_duration_seconds",
                                  "Time from a gRPC request's arrival to its answer, streams left out.",
                                  prometheus::MetricType::Histogram, {}};
  for (std::size_t m = 0; m < kMethods; ++m) {
    if (is_stream(m)) continue;
    prometheus::ClientMetric metric;
    metric.label = labels(m);
    metric.histogram = latency_of(static_cast<Method>(m));
    family.metric.push_back(std::move(metric));
  }
  return family;
}

std::vector<prometheus::MetricFamily> RequestMetrics::Collect() const {
  return {collect_started(), collect_finished(), collect_latency()};
}

void RequestTimer::finish(grpc::StatusCode code) {
  if (metrics_ == nullptr) return;
  metrics_->end(begun_, code);
  metrics_ = nullptr;
}

}  // namespace ingot::services_metrics
