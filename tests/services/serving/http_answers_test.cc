// What /health says of an instance, as etcd would.
#include "services/serving/http_answers.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "tests/services/status/pages_in_memory.h"

namespace ingot {
namespace {

class Health {
 public:
  Health() { pages.set_role(0, Role::kLeader); }

  // "200 BODY"
  std::string operator()(std::string_view query = "") const {
    return get("/health", query);
  }
  std::string get(const std::string& path, std::string_view query = "") const {
    const rpc::Http1Answer answer = make_http_answers(pages.config, pages.view()).at(path)(query);
    return std::to_string(answer.status) + " " + answer.body;
  }
  void raise_alarm() {
    for (std::size_t id = 0; id < 3; ++id) pages[id][ReplicaCounter::kStoreNoSpace].set(1);
  }

  PagesInMemory pages{3};
};

const std::string kHealthy = R"(200 {"health":"true","reason":""})";

std::string unhealthy(const std::string& reason) {
  return R"(503 {"health":"false","reason":")" + reason + "\"}";
}

TEST_CASE("a leader that is up is healthy, whatever else is asked") {
  const Health health;
  for (const char* query : {"", "exclude=NOSPACE", "exclude=", "serializable=true", "serializable=false", "&&=&x"}) {
    INFO(query);
    CHECK(health(query) == kHealthy);
  }
}

// It was healthy while every put was refused.
TEST_CASE("a full store is unhealthy, unless the alarm is excluded by its name") {
  Health health;
  health.raise_alarm();
  for (const char* query : {"", "exclude=CORRUPT", "exclude=nospace", "exclude=NOSPACE,CORRUPT", "exclude=",
                            "xexclude=NOSPACE", "serializable=true"}) {
    INFO(query);
    CHECK(health(query) == unhealthy("ALARM NOSPACE"));
  }
  for (const char* query : {"exclude=NOSPACE", "exclude=CORRUPT&exclude=NOSPACE",
                            "serializable=true&exclude=NOSPACE"}) {
    INFO(query);
    CHECK(health(query) == kHealthy);
  }
}

TEST_CASE("without a leader only serializable reads are healthy, and they as long as a replica is up") {
  Health health;
  health.pages.set_role(0, Role::kReplica);
  CHECK(health() == unhealthy("RAFT NO LEADER"));
  CHECK(health("exclude=NOSPACE") == unhealthy("RAFT NO LEADER"));
  CHECK(health("serializable=true") == kHealthy);
  for (std::size_t id = 0; id < 3; ++id) health.pages.set_state(id, ProcessState::kStopped);
  CHECK(health() == unhealthy("RAFT NO LEADER"));
  CHECK(health("serializable=true") == unhealthy("RANGE ERROR:no replica is up"));
}

TEST_CASE("while agreement is blocked only serializable reads are healthy, and the reason is the status's") {
  Health health;
  health.pages[0][ReplicaCounter::kBlocked].set(1);
  health.pages[0][ReplicaCounter::kBlockedBy].set(0b0010);
  CHECK_THAT(health(), Catch::Matchers::StartsWith(R"(503 {"health":"false","reason":"RANGE ERROR:)"));
  CHECK(health() != unhealthy("RANGE ERROR:"));
  CHECK(health("serializable=true") == kHealthy);
}

TEST_CASE("liveness and readiness are ok, with a line for each check if it is asked for") {
  const Health health;
  const std::string ready = "[+]data_corruption ok\n[+]serializable_read ok\n[+]linearizable_read ok\n"
                            "[+]non_learner ok\nok\n";
  CHECK(health.get("/livez") == "200 ok\n");
  CHECK(health.get("/readyz") == "200 ok\n");
  CHECK(health.get("/livez", "verbose") == "200 [+]serializable_read ok\nok\n");
  CHECK(health.get("/readyz", "verbose=x&exclude=nothing") == "200 " + ready);
  CHECK(health.get("/readyz", "exclude=data_corruption&verbose&exclude=non_learner&exclude=linearizable_read") ==
        "200 [+]serializable_read ok\nok\n");
  CHECK(health.get("/readyz/non_learner", "verbose") == "200 [+]non_learner ok\nok\n");
}

TEST_CASE("without a leader an instance lives and is not ready; without replicas it is neither") {
  Health health;
  health.pages.set_role(0, Role::kReplica);
  CHECK(health.get("/livez") == "200 ok\n");
  CHECK(health.get("/readyz") == "503 [+]data_corruption ok\n[+]serializable_read ok\n"
                                 "[-]linearizable_read failed: etcdserver: no leader\n[+]non_learner ok\n\n");
  CHECK(health.get("/readyz", "exclude=linearizable_read") == "200 ok\n");
  CHECK(health.get("/readyz/linearizable_read", "exclude=linearizable_read") ==
        "503 [-]linearizable_read failed: etcdserver: no leader\n\n");
  for (std::size_t id = 0; id < 3; ++id) health.pages.set_state(id, ProcessState::kStopped);
  CHECK(health.get("/livez") == "503 [-]serializable_read failed: no replica is up\n\n");
}

TEST_CASE("a full store is live and ready, as in etcd: it can be read") {
  Health health;
  health.raise_alarm();
  CHECK(health.get("/livez") == "200 ok\n");
  CHECK(health.get("/readyz") == "200 ok\n");
}

TEST_CASE("the version is that of the server, of the cluster and, since 3.6, of what is stored") {
  Health health;
  CHECK(health.get("/version") == R"(200 {"etcdserver":"3.6.0","etcdcluster":"3.6.0","storage":"3.6.0"})");
  health.pages.config.etcd_version = "3.10.12";
  CHECK(health.get("/version") == R"(200 {"etcdserver":"3.10.12","etcdcluster":"3.10.0","storage":"3.10.0"})");
  health.pages.config.etcd_version = "3.4.23";
  CHECK(health.get("/version") == R"(200 {"etcdserver":"3.4.23","etcdcluster":"3.4.0"})");
}

TEST_CASE("a leader that is stopped does not count, and the alarm is named first") {
  Health health;
  health.pages.set_state(0, ProcessState::kStopped);
  CHECK(health() == unhealthy("RAFT NO LEADER"));
  health.raise_alarm();
  CHECK(health() == unhealthy("ALARM NOSPACE"));
}

}  // namespace
}  // namespace ingot
