#include "services/serving/etcd_collectable.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "core/counters.h"
#include "services/config/etcd_version.h"
#include "services/metrics/families.h"
#include "services/status/status.h"

namespace ingot::inline services_serving {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;
using Families = std::vector<MetricFamily>;
using Labels = std::vector<prometheus::ClientMetric::Label>;

// Calls that the replicas agree on.
constexpr std::array kWrites{Method::kKvPut,     Method::kKvDeleteRange, Method::kKvTxn,
                             Method::kKvCompact, Method::kLeaseGrant,    Method::kLeaseRevoke};

// By value, as Go's gRPC writes them.
constexpr const char* kGoCodes[RequestMetrics::kCodes] = {
    "OK",           "Canceled",         "Unknown",           "InvalidArgument",    "DeadlineExceeded", "NotFound",
    "AlreadyExists", "PermissionDenied", "ResourceExhausted", "FailedPrecondition", "Aborted",          "OutOfRange",
    "Unimplemented", "Internal",         "Unavailable",       "DataLoss",           "Unauthenticated"};

void add_family(Families& families, MetricFamily family, double value, Labels labels = {}) {
  add_value(family, std::move(labels), value);
  families.push_back(std::move(family));
}

// A number that falls, too, though etcd's name for it ends like a counter's.
void add_untyped(Families& families, std::string name, std::string help, double value) {
  MetricFamily family{std::move(name), std::move(help), MetricType::Untyped, {}};
  prometheus::ClientMetric metric;
  metric.untyped.value = value;
  family.metric.push_back(std::move(metric));
  families.push_back(std::move(family));
}

template <typename Counters>
double sum(const std::vector<const Counters*>& loops, Counter Counters::*cell) {
  double total = 0;
  for (const Counters* each : loops) total += static_cast<double>((each->*cell).get());
  return total;
}

double succeeded(const RequestMetrics& requests, Method method) {
  return static_cast<double>(requests.finished_count(method, grpc::StatusCode::OK));
}

// Which methods are etcd's, and how their messages come.
const char* grpc_type(Method method) {
  const std::string_view service = RequestMetrics::name_of(method).service;
  const auto begins = [&](const char* package) { return service.starts_with(package); };
  if (!begins("etcdserverpb.") && !begins("v3lockpb.") && !begins("v3electionpb.")) return nullptr;
  if (method == Method::kMaintenanceSnapshot || method == Method::kElectionObserve) return "server_stream";
  return method == Method::kWatch || method == Method::kLeaseKeepAlive ? "bidi_stream" : "unary";
}

Labels grpc_labels(Method method) {
  const auto name = RequestMetrics::name_of(method);
  return {{"grpc_type", grpc_type(method)}, {"grpc_service", name.service}, {"grpc_method", name.method}};
}

}  // namespace

// The replicas' pages at one moment.
class EtcdCollectable::Pages {
 public:
  explicit Pages(std::vector<PageSnapshot> pages) : pages_(std::move(pages)) {}

  double sum(ReplicaCounter id) const {
    double total = 0;
    for (const PageSnapshot& page : pages_) total += static_cast<double>(page.counter(id));
    return total;
  }
  double greatest(ReplicaCounter id) const {
    std::uint64_t value = 0;
    for (const PageSnapshot& page : pages_) value = std::max(value, page.counter(id));
    return static_cast<double>(value);
  }
  // On the page of the replica that has applied the most.
  double newest(ReplicaCounter id) const {
    const auto applied = [](const PageSnapshot& page) { return page.counter(ReplicaCounter::kAppliedSlots); };
    const auto found = std::max_element(pages_.begin(), pages_.end(), [&](const auto& one, const auto& other) {
      return applied(one) < applied(other);
    });
    return found == pages_.end() ? 0 : static_cast<double>(found->counter(id));
  }

 private:
  std::vector<PageSnapshot> pages_;
};

EtcdCollectable::Pages EtcdCollectable::read_pages() const {
  const std::lock_guard lock(mutex_);
  std::vector<PageSnapshot> pages;
  for (std::size_t r = 0; r < view_.replicas.size(); ++r) {
    pages.emplace_back(*view_.replicas[r]);
    pages.back().adjust(adjusters_[r]);
  }
  return Pages(std::move(pages));
}

void EtcdCollectable::add_server(const Pages& pages, Families& families) const {
  const auto status = read_status(config_, view_, unix_now_ms());
  const bool led = std::any_of(status.replicas().begin(), status.replicas().end(), leads);
  add_family(families, gauge_family("etcd_server_has_leader", "1 while a replica that is up leads."), led);
  add_family(families, gauge_family("etcd_server_is_leader", "The same: there is one member."), led);
  add_family(families, gauge_family("etcd_server_is_learner", "Always 0."), 0);
  add_family(families, counter_family("etcd_server_leader_changes_seen_total", "Times that a replica began to lead."),
             pages.sum(ReplicaCounter::kLeaderships));
  add_family(families, counter_family("etcd_server_proposals_committed_total", "Slots that are decided."),
             pages.greatest(ReplicaCounter::kDecidedSlots));
  add_family(families, counter_family("etcd_server_proposals_applied_total", "Slots that are applied somewhere."),
             pages.greatest(ReplicaCounter::kAppliedSlots));
  double pending = 0, failed = 0;
  for (const Method method : kWrites) {
    // The ends first: a call that begins or ends meanwhile makes no negative number.
    double ended = 0;
    for (std::size_t c = 0; c < RequestMetrics::kCodes; ++c) {
      const auto code = static_cast<grpc::StatusCode>(c);
      const auto count = static_cast<double>(counted_.requests.finished_count(method, code));
      ended += count;
      if (code == grpc::StatusCode::UNAVAILABLE || code == grpc::StatusCode::DEADLINE_EXCEEDED) failed += count;
    }
    pending += static_cast<double>(counted_.requests.started_count(method)) - ended;
  }
  add_family(families, gauge_family("etcd_server_proposals_pending", "Writes of clients without an answer yet."),
             pending);
  add_family(families,
             counter_family("etcd_server_proposals_failed_total", "Writes of clients that ended without a decision."),
             failed);
  add_family(families, gauge_family("etcd_server_id", "The member's id, in its label; always 1."), 1,
             {{"server_id", absl::StrCat(absl::Hex(config_.member_id))}});
  add_family(families, gauge_family("etcd_server_version", "The version that clients are told; always 1."), 1,
             {{"server_version", config_.etcd_version}});
  add_family(families, gauge_family("etcd_cluster_version", "The cluster's version; always 1."), 1,
             {{"cluster_version", etcd_cluster_version(config_)}});
}

void EtcdCollectable::add_store(const Pages& pages, Families& families) const {
  const double bytes = pages.newest(ReplicaCounter::kStoreLiveBytes) + pages.newest(ReplicaCounter::kStoreHistoryBytes);
  add_family(families, gauge_family("etcd_mvcc_db_total_size_in_bytes", "Bytes that the quota counts."), bytes);
  add_family(families, gauge_family("etcd_mvcc_db_total_size_in_use_in_bytes", "The same: none are free for reuse."),
             bytes);
  // Without a quota there is no number that a share could be taken of.
  if (const double quota = pages.newest(ReplicaCounter::kStoreQuotaBytes); quota > 0) {
    add_family(families, gauge_family("etcd_server_quota_backend_bytes", "Beyond so many bytes puts are refused."),
               quota);
  }
  const auto calls = [&](const char* name, const char* help, Method method) {
    add_family(families, counter_family(name, help), succeeded(counted_.requests, method));
  };
  calls("etcd_mvcc_range_total", "Range calls that succeeded.", Method::kKvRange);
  calls("etcd_mvcc_put_total", "Put calls that succeeded.", Method::kKvPut);
  calls("etcd_mvcc_delete_total", "DeleteRange calls that succeeded.", Method::kKvDeleteRange);
  calls("etcd_mvcc_txn_total", "Txn calls that succeeded.", Method::kKvTxn);
  calls("etcd_debugging_lease_granted_total", "LeaseGrant calls that succeeded.", Method::kLeaseGrant);
  calls("etcd_debugging_lease_revoked_total", "LeaseRevoke calls that succeeded.", Method::kLeaseRevoke);
  add_family(families, counter_family("etcd_debugging_server_lease_expired_total", "Leases whose time was over."),
             pages.greatest(ReplicaCounter::kStoreLeasesEnded));
  add_untyped(families, "etcd_debugging_mvcc_keys_total", "Keys that exist.",
              pages.newest(ReplicaCounter::kStoreKeys));
  add_family(families, gauge_family("etcd_debugging_mvcc_current_revision", "The store's revision."),
             pages.newest(ReplicaCounter::kStoreRevision));
  add_family(families, gauge_family("etcd_debugging_mvcc_compact_revision", "The compacted revision."),
             pages.newest(ReplicaCounter::kStoreCompactRevision));
}

void EtcdCollectable::add_loops(Families& families) const {
  using rpc::ServerCounters;
  using watch::WatchCounters;
  add_family(families, counter_family("etcd_network_client_grpc_received_bytes_total", "Bytes from clients."),
             sum(counted_.servers, &ServerCounters::received_bytes));
  add_family(families, counter_family("etcd_network_client_grpc_sent_bytes_total", "Bytes to clients."),
             sum(counted_.servers, &ServerCounters::sent_bytes));
  add_untyped(families, "etcd_debugging_mvcc_watch_stream_total", "Open streams of watches.",
              sum(counted_.watches, &WatchCounters::streams));
  add_untyped(families, "etcd_debugging_mvcc_watcher_total", "Watches.",
              sum(counted_.watches, &WatchCounters::watches));
  add_untyped(families, "etcd_debugging_mvcc_slow_watcher_total", "Watches that have not been sent all events.",
              sum(counted_.watches, &WatchCounters::behind));
  add_family(families, counter_family("etcd_debugging_mvcc_events_total", "Events that were sent to watches."),
             sum(counted_.watches, &WatchCounters::events));
}

void EtcdCollectable::add_grpc(Families& families) const {
  MetricFamily started = counter_family("grpc_server_started_total", "Calls that have begun.");
  MetricFamily handled = counter_family("grpc_server_handled_total", "Calls that have ended, by code.");
  MetricFamily handling{"grpc_server_handling_seconds", "Time from a call's arrival to its answer, streams left out.",
                        MetricType::Histogram, {}};
  for (std::size_t m = 0; m < static_cast<std::size_t>(Method::kCount); ++m) {
    const auto method = static_cast<Method>(m);
    const char* const type = grpc_type(method);
    if (type == nullptr) continue;
    add_value(started, grpc_labels(method), static_cast<double>(counted_.requests.started_count(method)));
    // Those that never came, too, as etcd shows them: a rate begins with the first failure, and a panel is not empty.
    for (std::size_t c = 0; c < RequestMetrics::kCodes; ++c) {
      const auto count = counted_.requests.finished_count(method, static_cast<grpc::StatusCode>(c));
      Labels labels = grpc_labels(method);
      labels.push_back({"grpc_code", kGoCodes[c]});
      add_value(handled, std::move(labels), static_cast<double>(count));
    }
    if (config_.metrics != MetricsDetail::kExtensive || type != std::string("unary")) continue;
    prometheus::ClientMetric metric;
    metric.label = grpc_labels(method);
    metric.histogram = counted_.requests.latency_of(method);
    handling.metric.push_back(std::move(metric));
  }
  families.push_back(std::move(started));
  families.push_back(std::move(handled));
  if (!handling.metric.empty()) families.push_back(std::move(handling));
}

Families EtcdCollectable::Collect() const {
  Families families;
  const Pages pages = read_pages();
  add_server(pages, families);
  add_store(pages, families);
  add_loops(families);
  add_grpc(families);
  return families;
}

}  // namespace ingot::services_serving
