// The ids by which etcd's clients know a cluster and its member.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/handover/handover_state.h"
#include "services/instance/instance.h"

namespace ingot {
namespace {

std::unique_ptr<Instance> create(const std::string& suffix = "") {
  DaemonConfig config;
  config.replicas = 1;
  config.listen = "127.0.0.1:0";
  config.metrics_listen = "";
  config.name = absl::StrCat("cluster-id-test-", ::getpid(), suffix);
  config.socket = "";
  auto instance = Instance::create(config);
  INFO(instance.status());
  REQUIRE(instance.ok());
  return *std::move(instance);
}

// A client that resumed its watch at a revision of the lost state could not tell, and got nothing while the new one was
// behind it.
TEST_CASE("a new state had the cluster id of the former one of its name") {
  std::set<std::uint64_t> clusters, members;
  for (int i = 0; i < 3; ++i) {
    const auto instance = create();
    clusters.insert(instance->config().cluster_id);
    members.insert(instance->config().member_id);
  }
  CHECK(clusters.size() == 3);
  CHECK(clusters.count(0) == 0);
  CHECK(members.size() == 1);
  members.insert(create("-other")->config().member_id);
  CHECK(members.size() == 2);
  CHECK(members.count(0) == 0);
}

TEST_CASE("a supervisor that takes an instance over keeps its ids, and so do the processes that it starts") {
  const auto instance = create();
  auto known = HandoverState::copy(instance->launch_spec());
  REQUIRE(known.ok());
  auto adopted = Instance::adopt(Descriptor(), *std::move(known));
  REQUIRE(adopted.ok());
  const DaemonConfig started = (*adopted)->launch_spec().config;
  CHECK(started.cluster_id == instance->config().cluster_id);
  CHECK(started.member_id == instance->config().member_id);
}

}  // namespace
}  // namespace ingot
