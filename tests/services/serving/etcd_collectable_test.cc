// An instance's metrics by etcd's names.
#include "services/serving/etcd_collectable.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include <prometheus/text_serializer.h>

#include "tests/services/status/pages_in_memory.h"

namespace ingot {
namespace {

using Catch::Matchers::Contains;

class Shown {
 public:
  std::string text() const { return prometheus::TextSerializer().Serialize(collectable_.Collect()); }

  PagesInMemory pages{3};
  RequestMetrics requests;
  rpc::ServerCounters servers[2];
  watch::WatchCounters watches[2];

 private:
  EtcdCollectable collectable_{pages.config, pages.view(),
                               {requests, {&servers[0], &servers[1]}, {&watches[0], &watches[1]}}};
};

TEST_CASE("the leader, slots and bytes are those of the replicas' pages") {
  Shown shown;
  CHECK_THAT(shown.text(), Contains("etcd_server_has_leader 0\n"));
  CHECK_THAT(shown.text(), !Contains("etcd_server_quota_backend_bytes"));  // there is none
  shown.pages.set_role(1, Role::kLeader);
  shown.pages[1][ReplicaCounter::kLeaderships].set(2);
  shown.pages[0][ReplicaCounter::kLeaderships].set(1);
  shown.pages.set_progress(0, 0, 30, 10);
  shown.pages.set_progress(1, 30, 30, 20);
  shown.pages[0][ReplicaCounter::kStoreLiveBytes].set(99);  // it lags
  shown.pages[1][ReplicaCounter::kStoreLiveBytes].set(5);
  shown.pages[1][ReplicaCounter::kStoreHistoryBytes].set(6);
  shown.pages[1][ReplicaCounter::kStoreQuotaBytes].set(700);
  shown.pages[1][ReplicaCounter::kStoreRevision].set(17);
  const std::string text = shown.text();
  for (const char* line :
       {"etcd_server_has_leader 1\n", "etcd_server_is_leader 1\n", "etcd_server_leader_changes_seen_total 3\n",
        "etcd_server_proposals_committed_total 30\n", "etcd_server_proposals_applied_total 20\n",
        "etcd_mvcc_db_total_size_in_bytes 11\n", "etcd_mvcc_db_total_size_in_use_in_bytes 11\n",
        "etcd_server_quota_backend_bytes 700\n", "etcd_debugging_mvcc_current_revision 17\n",
        "etcd_server_version{server_version=\"3.6.0\"} 1\n", "etcd_server_id{server_id=\"1\"} 1\n"}) {
    CHECK_THAT(text, Contains(line));
  }
  shown.pages.set_state(1, ProcessState::kDead);  // its page still claims the role
  CHECK_THAT(shown.text(), Contains("etcd_server_has_leader 0\n"));
}

TEST_CASE("calls are counted by their methods and Go's names of codes, and writes without an answer are pending") {
  Shown shown;
  const auto put = [&](grpc::StatusCode code) {
    shown.requests.started(Method::kKvPut);
    shown.requests.finished(Method::kKvPut, code, std::chrono::milliseconds(1));
  };
  put(grpc::StatusCode::OK);
  put(grpc::StatusCode::UNAVAILABLE);
  shown.requests.started(Method::kKvTxn);
  shown.requests.started(Method::kWatch);
  shown.requests.started(Method::kMaintenanceSnapshot);
  shown.requests.started(Method::kLockLock);
  shown.requests.started(Method::kElectionObserve);
  shown.requests.started(Method::kControlDrill);
  const std::string text = shown.text();
  const std::string labels = R"({grpc_type="unary",grpc_service="etcdserverpb.KV",grpc_method="Put")";
  CHECK_THAT(text, Contains("grpc_server_started_total" + labels + "} 2\n"));
  CHECK_THAT(text, Contains("grpc_server_handled_total" + labels + ",grpc_code=\"OK\"} 1\n"));
  CHECK_THAT(text, Contains("grpc_server_handled_total" + labels + ",grpc_code=\"Unavailable\"} 1\n"));
  // Regression: a code that never came was left out, and so was the line of failures from the mixin's dashboard.
  CHECK_THAT(text, Contains("grpc_server_handled_total" + labels + ",grpc_code=\"DataLoss\"} 0\n"));
  CHECK_THAT(text, Contains("{grpc_type=\"bidi_stream\",grpc_service=\"etcdserverpb.Watch\",grpc_method=\"Watch\"} 1"));
  CHECK_THAT(text, Contains("{grpc_type=\"server_stream\",grpc_service=\"etcdserverpb.Maintenance\","
                            "grpc_method=\"Snapshot\"} 1"));
  CHECK_THAT(text, Contains("{grpc_type=\"unary\",grpc_service=\"v3lockpb.Lock\",grpc_method=\"Lock\"} 1"));
  CHECK_THAT(text, Contains("{grpc_type=\"server_stream\",grpc_service=\"v3electionpb.Election\","
                            "grpc_method=\"Observe\"} 1"));
  CHECK_THAT(text, !Contains("Drill"));
  CHECK_THAT(text, !Contains("grpc_server_handling_seconds"));
  CHECK_THAT(text, Contains("etcd_server_proposals_pending 1\n"));
  CHECK_THAT(text, Contains("etcd_server_proposals_failed_total 1\n"));
  CHECK_THAT(text, Contains("etcd_mvcc_put_total 1\n"));
  shown.pages.config.metrics = MetricsDetail::kExtensive;
  CHECK_THAT(shown.text(), Contains("grpc_server_handling_seconds_bucket" + labels + ",le=\"0.001\"} 2\n"));
}

TEST_CASE("bytes and watches are those of all loops together") {
  Shown shown;
  shown.servers[0].received_bytes.set(3);
  shown.servers[1].received_bytes.set(4);
  shown.watches[0].watches.set(1);
  shown.watches[1].watches.set(1);
  shown.watches[1].behind.set(1);
  CHECK_THAT(shown.text(), Contains("etcd_network_client_grpc_received_bytes_total 7\n"));
  CHECK_THAT(shown.text(), Contains("etcd_debugging_mvcc_watcher_total 2\n"));
  CHECK_THAT(shown.text(), Contains("etcd_debugging_mvcc_slow_watcher_total 1\n"));
}

}  // namespace
}  // namespace ingot
