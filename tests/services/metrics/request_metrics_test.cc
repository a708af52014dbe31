#include "services/metrics/request_metrics.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "core/prng.h"

namespace ingot {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using std::chrono::nanoseconds;

const MetricFamily& family(const std::vector<MetricFamily>& families, const std::string& name) {
  for (const MetricFamily& family : families)
    if (family.name == name) return family;
  FAIL("no family " << name);
  return families.front();
}

std::string label(const ClientMetric& metric, const std::string& name) {
  for (const auto& label : metric.label)
    if (label.name == name) return label.value;
  return "";
}

const ClientMetric& metric(const MetricFamily& family, const std::string& method, const std::string& code = "") {
  for (const ClientMetric& metric : family.metric)
    if (label(metric, "method") == method && label(metric, "code") == code) return metric;
  FAIL("no metric of " << method << " " << code);
  return family.metric.front();
}

TEST_CASE("every method has an OK counter before its first request") {
  const RequestMetrics metrics;
  const auto families = metrics.Collect();
  CHECK(metric(family(families, "ingot_grpc_requests_total"), "Put", "OK").counter.value == 0);
  CHECK(metric(family(families, "ingot_grpc_requests_total"), "other", "OK").counter.value == 0);
  CHECK(metric(family(families, "ingot_grpc_requests_started_total"), "Txn").counter.value == 0);
  CHECK(family(families, "ingot_grpc_requests_total").metric.size() == static_cast<std::size_t>(Method::kCount));
}

TEST_CASE("a latency equal to a bucket's bound belongs to that bucket") {
  RequestMetrics metrics;
  metrics.finished(Method::kKvPut, grpc::StatusCode::OK, nanoseconds(10'000));
  metrics.finished(Method::kKvPut, grpc::StatusCode::OK, nanoseconds(10'001));
  metrics.finished(Method::kKvPut, grpc::StatusCode::OK, std::chrono::seconds(60));
  const auto families = metrics.Collect();
  const auto& histogram = metric(family(families, "ingot_grpc_request_duration_seconds"), "Put").histogram;
  REQUIRE(histogram.bucket.size() == kLatencyBucketsNs.size());
  CHECK(histogram.bucket[0].upper_bound == Approx(1e-5));
  CHECK(histogram.bucket[0].cumulative_count == 1);
  CHECK(histogram.bucket[1].cumulative_count == 2);
  CHECK(histogram.bucket.back().cumulative_count == 2);
  CHECK(histogram.sample_count == 3);
  CHECK(histogram.sample_sum == Approx(60 + 2e-5));
}

TEST_CASE("a stream counts, but its age is no latency") {
  RequestMetrics metrics;
  metrics.finished(Method::kControlWatchStatus, grpc::StatusCode::UNAVAILABLE, std::chrono::hours(1));
  metrics.finished(Method::kMaintenanceSnapshot, grpc::StatusCode::OK, std::chrono::hours(1));
  const auto families = metrics.Collect();
  CHECK(metric(family(families, "ingot_grpc_requests_total"), "WatchStatus", "UNAVAILABLE").counter.value == 1);
  for (const ClientMetric& metric : family(families, "ingot_grpc_request_duration_seconds").metric)
    CHECK((label(metric, "method") != "WatchStatus" && label(metric, "method") != "Snapshot"));
}

TEST_CASE("a timer counts its request once, and as cancelled if it was never finished") {
  RequestMetrics metrics;
  {
    RequestTimer finished(metrics, Method::kKvRange);
    finished.finish(grpc::StatusCode::NOT_FOUND);
    finished.finish(grpc::StatusCode::OK);
    const RequestTimer vanished(metrics, Method::kKvRange);
  }
  const auto families = metrics.Collect();
  const MetricFamily& totals = family(families, "ingot_grpc_requests_total");
  CHECK(metric(totals, "Range", "NOT_FOUND").counter.value == 1);
  CHECK(metric(totals, "Range", "CANCELLED").counter.value == 1);
  CHECK(metric(totals, "Range", "OK").counter.value == 0);
  CHECK(metric(family(families, "ingot_grpc_requests_started_total"), "Range").counter.value == 2);
}

// The simple model: one map without locks, filled by replaying each thread's requests afterwards.
TEST_CASE("requests of many threads all count, whatever shards they share") {
  constexpr int kThreads = 2 * kRequestMetricShards + 1;
  constexpr int kRequests = 5000;
  const std::vector<const char*> methods{"Range", "Put", "DeleteRange", "Txn"};
  const std::vector<std::pair<grpc::StatusCode, const char*>> codes{
      {grpc::StatusCode::OK, "OK"},
      {grpc::StatusCode::INVALID_ARGUMENT, "INVALID_ARGUMENT"},
      {grpc::StatusCode::UNAUTHENTICATED, "UNAUTHENTICATED"}};
  const auto replay = [&](int thread, auto request) {
    Prng random(static_cast<std::uint64_t>(thread) + 1);
    for (int i = 0; i < kRequests; ++i) {
      const auto method = random.below(methods.size());
      request(method, random.below(codes.size()), static_cast<std::int64_t>(random.below(20'000'000)));
    }
  };
  RequestMetrics metrics;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      replay(t, [&](std::size_t method, std::size_t code, std::int64_t ns) {
        metrics.started(static_cast<Method>(method));
        metrics.finished(static_cast<Method>(method), codes[code].first, nanoseconds(ns));
      });
    });
  }
  for (std::thread& thread : threads) thread.join();

  std::map<std::pair<std::size_t, std::size_t>, double> counts;
  std::map<std::size_t, std::vector<std::uint64_t>> cumulative;
  std::map<std::size_t, double> sums;
  for (int t = 0; t < kThreads; ++t) {
    replay(t, [&](std::size_t method, std::size_t code, std::int64_t ns) {
      ++counts[{method, code}];
      sums[method] += 1e-9 * static_cast<double>(ns);
      auto& buckets = cumulative[method];
      buckets.resize(kLatencyBucketsNs.size());
      for (std::size_t b = 0; b < kLatencyBucketsNs.size(); ++b)
        if (ns <= kLatencyBucketsNs[b]) ++buckets[b];
    });
  }
  const auto families = metrics.Collect();
  for (const auto& [key, count] : counts) {
    const auto& [method, code] = key;
    CHECK(metric(family(families, "ingot_grpc_requests_total"), methods[method], codes[code].second).counter.value ==
          count);
  }
  for (std::size_t method = 0; method < methods.size(); ++method) {
    const auto& histogram = metric(family(families, "ingot_grpc_request_duration_seconds"), methods[method]).histogram;
    CHECK(histogram.sample_sum == Approx(sums[method]));
    for (std::size_t b = 0; b < kLatencyBucketsNs.size(); ++b)
      CHECK(histogram.bucket[b].cumulative_count == cumulative[method][b]);
  }
}

}  // namespace
}  // namespace ingot
