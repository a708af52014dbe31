// The whole scrape, from pages in memory over HTTP to Prometheus's own checker.
#include "services/metrics/exposer.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/services/metrics/http_client.h"
#include "tests/services/status/pages_in_memory.h"

namespace ingot {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

// promtool's findings in a scrape; empty if there are none.
std::string promtool(const std::string& text) {
  const std::string file = absl::StrCat(std::getenv("TEST_TMPDIR"), "/scrape");
  std::ofstream(file) << text;
  FILE* pipe = ::popen(("promtool check metrics < " + file + " 2>&1").c_str(), "r");
  std::string output;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, n);
  const int code = ::pclose(pipe);
  return code == 0 ? output : absl::StrCat("exit ", code, ": ", output);
}

TEST_CASE("a scrape shows pages, processes and requests, and promtool finds no fault") {
  PagesInMemory pages(3);
  pages.daemon.supervisor_pid.set(static_cast<std::uint64_t>(::getpid()));
  pages[1][ReplicaCounter::kAppliedSlots].set(41);
  pages[1][ReplicaCounter::kRefusedCommands].set(5);
  pages[1][ReplicaCounter::kMalformedBatches].set(6);
  pages[1][ReplicaCounter::kBusyNs].set(1'500'000'000);
  pages.daemon.refused_messages.set(7);
  pages[1].sent[2].messages.set(17);
  pages[1].received[3].bytes.set(99);
  pages[2].batch_commands[1].set(4);
  pages[2].batch_commands[kBatchBuckets.size()].set(1);
  pages[2].batch_commands_sum.set(1300);
  RequestMetrics requests;
  requests.finished(Method::kKvPut, grpc::StatusCode::OK, std::chrono::milliseconds(1));

  const MetricsText metrics(pages.config, pages.view(), requests);
  auto exposer = MetricsExposer::start("127.0.0.1:0", metrics);
  REQUIRE(exposer.ok());
  const std::string text = scrape((*exposer)->port());
  CHECK_THAT(text, Contains("ingot_build_info{version=\"0.4.0\",name=\"test\",agreement=\"1paxos\""));
  CHECK_THAT(text, Contains("ingot_start_time_seconds 1000\n"));
  CHECK_THAT(text, Contains("ingot_applied_slots_total{replica=\"1\"} 41\n"));
  CHECK_THAT(text, Contains("ingot_refused_commands_total{replica=\"1\"} 5\n"));
  CHECK_THAT(text, Contains("ingot_malformed_batches_total{replica=\"1\"} 6\n"));
  CHECK_THAT(text, Contains("ingot_busy_seconds_total{replica=\"1\"} 1.5\n"));
  CHECK_THAT(text, Contains("ingot_supervision_refused_messages_total 7\n"));
  CHECK_THAT(text, Contains("ingot_link_sent_messages_total{from=\"1\",to=\"2\"} 17\n"));
  CHECK_THAT(text, Contains("ingot_link_received_bytes_total{from=\"front-end\",to=\"1\"} 99\n"));
  CHECK_THAT(text, Contains("ingot_batch_commands_bucket{replica=\"2\",le=\"1\"} 0\n"));
  CHECK_THAT(text, Contains("ingot_batch_commands_bucket{replica=\"2\",le=\"2\"} 4\n"));
  CHECK_THAT(text, Contains("ingot_batch_commands_bucket{replica=\"2\",le=\"+Inf\"} 5\n"));
  CHECK_THAT(text, Contains("ingot_batch_commands_sum{replica=\"2\"} 1300\n"));
  CHECK_THAT(text, Contains("ingot_replica_state{replica=\"0\",state=\"up\"} 1\n"));
  CHECK_THAT(text, Contains("ingot_replica_state{replica=\"0\",state=\"dead\"} 0\n"));
  CHECK_THAT(text, Contains("ingot_grpc_requests_total{service=\"etcdserverpb.KV\",method=\"Put\",code=\"OK\"} 1\n"));
  CHECK_THAT(text, Contains("ingot_process_resident_memory_bytes{process=\"supervisor\"}"));
  CHECK_THAT(text, Contains("ingot_process_start_time_seconds{process=\"supervisor\"} 1"));
  CHECK_THAT(text, Contains("ingot_process_restarts_total{process=\"replica-2\"} 0\n"));
  CHECK_THAT(text, !Contains("ingot_replica_digest"));
  CHECK(promtool(text) == "");
}

// Regression: ten half-sent requests kept the port from answering for more than 95 s.
TEST_CASE("half-sent requests and silent connections delay no scrape") {
  PagesInMemory pages(3);
  RequestMetrics requests;
  const HttpServerBounds no_timeouts{.request_timeout = std::chrono::hours(1), .answer_timeout = std::chrono::hours(1)};
  const MetricsText metrics(pages.config, pages.view(), requests);
  auto exposer = MetricsExposer::start("127.0.0.1:0", metrics, {}, no_timeouts);
  REQUIRE(exposer.ok());
  std::vector<HttpClient> clients;
  for (int i = 0; i < 10; ++i) {
    clients.emplace_back((*exposer)->port()).send("GET /metrics HTTP/1.1\r\nHost: ");
    clients.emplace_back((*exposer)->port());  // silent
  }
  CHECK_THAT(scrape((*exposer)->port()), Contains("ingot_build_info"));
  // The scrape was answered before any of them ended.
  for (const HttpClient& client : clients) CHECK(!client.heard());
}

TEST_CASE("other texts are served beside the metrics, and the recent metrics are those of a moment ago") {
  PagesInMemory pages(1);
  RequestMetrics requests;
  const MetricsText metrics(pages.config, pages.view(), requests);
  auto exposer = MetricsExposer::start("127.0.0.1:0", metrics, {{"/livez", [](std::string_view) {
                                         return rpc::Http1Answer{200, "ok\n", "text/plain"};
                                       }}});
  REQUIRE(exposer.ok());
  CHECK_THAT(ask((*exposer)->port(), "GET /livez HTTP/1.1\r\n\r\n"), EndsWith("\r\n\r\nok\n"));
  CHECK_THAT(scrape((*exposer)->port()), Contains("ingot_build_info"));

  constexpr std::chrono::hours kLong{1};
  pages[0][ReplicaCounter::kStoreKeys].set(7);
  CHECK_THAT(metrics.recent(kLong), Contains("ingot_store_keys{replica=\"0\"} 7\n"));
  pages[0][ReplicaCounter::kStoreKeys].set(8);
  CHECK_THAT(metrics.recent(kLong), Contains("ingot_store_keys{replica=\"0\"} 7\n"));
  CHECK_THAT(metrics.now(), Contains("ingot_store_keys{replica=\"0\"} 8\n"));
  CHECK_THAT(metrics.recent(std::chrono::milliseconds(-1)), Contains("ingot_store_keys{replica=\"0\"} 8\n"));
}

TEST_CASE("promtool's check finds faults") {
  CHECK(promtool("# HELP ingot_things_total Things.\n# TYPE ingot_things_total gauge\ningot_things_total 1\n") != "");
  CHECK(promtool("# HELP ingot_a_nanoseconds A.\n# TYPE ingot_a_nanoseconds gauge\ningot_a_nanoseconds 1\n") != "");
}

TEST_CASE("an address that cannot be bound is refused in a sentence") {
  PagesInMemory pages(3);
  RequestMetrics requests;
  const MetricsText metrics(pages.config, pages.view(), requests);
  auto first = MetricsExposer::start("127.0.0.1:0", metrics);
  REQUIRE(first.ok());
  const std::string address = absl::StrCat("127.0.0.1:", (*first)->port());
  const auto second = MetricsExposer::start(address, metrics);
  REQUIRE(!second.ok());
  CHECK(second.status().code() == absl::StatusCode::kAlreadyExists);
  CHECK_THAT(std::string(second.status().message()),
             Contains(address) && Contains("--metrics-listen"));
}

}  // namespace
}  // namespace ingot
