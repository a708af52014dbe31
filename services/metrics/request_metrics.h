// gRPC requests by method and code, with latencies, recorded by handlers and scraped by Prometheus.
//
// A handler reports when a request begins and when it ends: two clock reads and a few additions without contention.
// docs/design/measurement.md says why this is not a server interceptor.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include <grpcpp/support/status_code_enum.h>
#include <prometheus/client_metric.h>
#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include "services/metrics/limits.h"


namespace ingot::inline services_metrics {

// The served methods: X(id, gRPC service, gRPC method). The rest of etcd's API shares kOther.
#define INGOT_METHODS(X)                                            \
  X(kKvRange, "etcdserverpb.KV", "Range")                           \
  X(kKvPut, "etcdserverpb.KV", "Put")                               \
  X(kKvDeleteRange, "etcdserverpb.KV", "DeleteRange")               \
  X(kKvTxn, "etcdserverpb.KV", "Txn")                               \
  X(kKvCompact, "etcdserverpb.KV", "Compact")                       \
  X(kWatch, "etcdserverpb.Watch", "Watch")                          \
  X(kLeaseGrant, "etcdserverpb.Lease", "LeaseGrant")                \
  X(kLeaseRevoke, "etcdserverpb.Lease", "LeaseRevoke")              \
  X(kLeaseKeepAlive, "etcdserverpb.Lease", "LeaseKeepAlive")        \
  X(kLeaseTimeToLive, "etcdserverpb.Lease", "LeaseTimeToLive")      \
  X(kLeaseLeases, "etcdserverpb.Lease", "LeaseLeases")              \
  X(kLockLock, "v3lockpb.Lock", "Lock")                             \
  X(kLockUnlock, "v3lockpb.Lock", "Unlock")                         \
  X(kElectionCampaign, "v3electionpb.Election", "Campaign")         \
  X(kElectionProclaim, "v3electionpb.Election", "Proclaim")         \
  X(kElectionLeader, "v3electionpb.Election", "Leader")             \
  X(kElectionObserve, "v3electionpb.Election", "Observe")           \
  X(kElectionResign, "v3electionpb.Election", "Resign")             \
  X(kMaintenanceStatus, "etcdserverpb.Maintenance", "Status")       \
  X(kMaintenanceHashKv, "etcdserverpb.Maintenance", "HashKV")       \
  X(kMaintenanceAlarm, "etcdserverpb.Maintenance", "Alarm")         \
  X(kMaintenanceSnapshot, "etcdserverpb.Maintenance", "Snapshot")   \
  X(kClusterMemberList, "etcdserverpb.Cluster", "MemberList")       \
  X(kControlGetStatus, "ingot.control.v1.Control", "GetStatus")     \
  X(kControlGetTopology, "ingot.control.v1.Control", "GetTopology") \
  X(kControlGetDigests, "ingot.control.v1.Control", "GetDigests")   \
  X(kControlWatchStatus, "ingot.control.v1.Control", "WatchStatus") \
  X(kControlDrill, "ingot.control.v1.Control", "Drill")             \
  X(kControlMove, "ingot.control.v1.Control", "Move")               \
  X(kOther, "other", "other")

enum class Method : std::uint8_t {
#define INGOT_X(id, service, method) id,
  INGOT_METHODS(INGOT_X)
#undef INGOT_X
      kCount
};

// Upper bounds of the latency histogram's buckets, in nanoseconds: 10 µs to 10 s; the last bucket holds the rest.
inline constexpr std::array<std::int64_t, 19> kLatencyBucketsNs{
    10'000,     25'000,     50'000,     100'000,     250'000,     500'000,       1'000'000,
    2'500'000,  5'000'000,  10'000'000, 25'000'000,  50'000'000,  100'000'000,   250'000'000,
    500'000'000, 1'000'000'000, 2'500'000'000, 5'000'000'000, 10'000'000'000};

// Counts started and finished requests. Thread-safe; the counts of a thread go to one of kRequestMetricShards shards,
// so that handlers on different cores do not contend for cache lines. All counts are monotonic.
//
// Exports  ingot_grpc_requests_started_total{service,method}
//          ingot_grpc_requests_total{service,method,code}      code as in "OK", "INVALID_ARGUMENT"
//          ingot_grpc_request_duration_seconds{service,method} histogram of finished requests, streams left out
class RequestMetrics final : public prometheus::Collectable {
 public:
  static constexpr std::size_t kCodes = 17;  // OK (0) to UNAUTHENTICATED (16)

  // A request in progress. A plain value, small enough for a callback to capture without an allocation.
  struct Begun {
    std::chrono::steady_clock::time_point at;
    Method method;
  };

  // Counts a request as begun. Each needs one end().
  Begun begin(Method method) {
    started(method);
    return {std::chrono::steady_clock::now(), method};
  }
  void end(const Begun& begun, grpc::StatusCode code) {
    finished(begun.method, code, std::chrono::steady_clock::now() - begun.at);
  }

  // For metrics under other names.
  struct MethodName {
    const char* service;
    const char* method;
  };
  static MethodName name_of(Method method);
  std::uint64_t started_count(Method method) const;
  std::uint64_t finished_count(Method method, grpc::StatusCode code) const;
  prometheus::ClientMetric::Histogram latency_of(Method method) const;

  void started(Method method);
  void finished(Method method, grpc::StatusCode code, std::chrono::nanoseconds latency);

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  static constexpr std::size_t kMethods = static_cast<std::size_t>(Method::kCount);
  using Cell = std::atomic<std::uint64_t>;

  struct PerMethod {
    Cell started{0};
    std::array<Cell, kCodes> finished{};
    std::array<Cell, kLatencyBucketsNs.size() + 1> latency{};
    Cell latency_sum_ns{0};
  };
  struct alignas(64) Shard {
    std::array<PerMethod, kMethods> methods;
  };

  PerMethod& mine(Method method);
  // The sum over the shards of the cell that `pick` returns.
  template <typename Pick>
  std::uint64_t sum(Pick pick) const;

  prometheus::MetricFamily collect_started() const;
  prometheus::MetricFamily collect_finished() const;
  prometheus::MetricFamily collect_latency() const;

  std::array<Shard, kRequestMetricShards> shards_;
};

// Times a request whose handler may be destroyed at any time: a request that is never finished counts as CANCELLED. Not
// thread-safe.
class RequestTimer {
 public:
  RequestTimer(RequestMetrics& metrics, Method method) : metrics_(&metrics), begun_(metrics.begin(method)) {}
  ~RequestTimer() { finish(grpc::StatusCode::CANCELLED); }
  RequestTimer(const RequestTimer&) = delete;
  RequestTimer& operator=(const RequestTimer&) = delete;

  // Only the first call counts.
  void finish(grpc::StatusCode code);

 private:
  RequestMetrics* metrics_;  // null once finished
  RequestMetrics::Begun begun_;
};

}  // namespace ingot::services_metrics
