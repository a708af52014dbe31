// Statuses as JSON, tables and lines.
#include <catch2/catch.hpp>
#include <string>

#include "services/ingotctl/render/status.h"
#include "tests/services/ingotctl/render/status_example.h"

namespace ingot {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("the status object has exactly the keys that scripts rely on, in their order") {
  CHECK(status_json(example(), false) ==
        R"({"name":"ingot-2379","agreement":"1paxos","transport":"nvp","backend":"shm","isolation":"process",)"
        R"("replicas":[{"id":0,"pid":100,"incarnation":1,"state":"up","core":0,"voter":true,"role":"leader",)"
        R"("epoch":2,"ballot":3,"proposed":9,"decided":8,"applied":8,"lag":0},)"
        R"({"id":1,"pid":101,"incarnation":1,"state":"up","core":1,"voter":true,"role":"acceptor",)"
        R"("epoch":2,"ballot":3,"proposed":9,"decided":8,"applied":7,"lag":1}]})");
}

TEST_CASE("the tree comes after the replicas, if broadcasts travel on one") {
  auto status = example();
  auto& tree = *status.mutable_tree();
  tree.set_version(3);
  tree.set_reason("by-pass");
  tree.set_root(1);
  for (std::uint32_t id = 0; id < 4; ++id) {
    auto& node = *tree.add_nodes();
    node.set_replica(id);
    node.set_version(3);
    node.set_parent(id == 3 ? 2 : 1);
  }
  tree.mutable_nodes(1)->add_children(0);
  tree.mutable_nodes(1)->add_children(2);
  tree.mutable_nodes(2)->add_children(3);
  tree.mutable_nodes(0)->set_bypassed(true);
  CHECK_THAT(status_json(status, false),
             Contains(R"(],"tree":{"version":3,"reason":"by-pass","root":1,"replicas":[)"
                      R"({"id":0,"version":3,"parent":1,"children":[],"bypassed":true},)"
                      R"({"id":1,"version":3,"parent":1,"children":[0,2],"bypassed":false},)"));
  CHECK_THAT(status_table(status, false), Contains("tree 3 (by-pass): 1 sends to 0 2, 2 to 3; by-passed: 0\n"));
}

TEST_CASE("digests and blocks come at the end, if there are any") {
  auto status = example();
  status.mutable_replicas(0)->mutable_digest()->set_slot(8);
  status.mutable_replicas(0)->mutable_digest()->set_digest(0xab);
  status.mutable_blocked()->set_by(1);
  status.mutable_blocked()->add_reported_by(0);
  status.mutable_blocked()->set_why("too few of the voters answer");
  status.mutable_blocked()->set_details("too few of the voters answer; slot 3 waits");
  const std::string json = status_json(status, true);
  CHECK_THAT(json, Contains(R"("lag":0,"digest":"00000000000000ab","digest_slot":8})"));
  CHECK_THAT(json, Contains(R"("lag":1,"digest":null,"digest_slot":null}])"));
  CHECK_THAT(json,
             Catch::Matchers::EndsWith(R"(],"blocked":{"by":1,"reported_by":[0],"why":"too few of the voters answer",)"
                                       R"("details":"too few of the voters answer; slot 3 waits"}})"));
  CHECK_THAT(status_table(status, false),
             Catch::Matchers::EndsWith(
                 "blocked: replica 0 waits for replica 1: too few of the voters answer; slot 3 waits\n"));
}

TEST_CASE("a block names the replicas that wait and the one waited for, if there is one") {
  control_v1::Blocked blocked;
  blocked.set_by(2);
  blocked.add_reported_by(0);
  blocked.add_reported_by(1);
  CHECK(blocked_text(blocked, "why") == "blocked: replicas 0, 1 wait for replica 2: why");
  blocked.set_by(1);
  CHECK(blocked_text(blocked, "why") == "blocked: replicas 0, 1: why");
}

TEST_CASE("a line names the leader, missing replicas and the group's progress") {
  auto status = example();
  CHECK(status_line(status) == "leader 0  acceptor 1  epoch 2  ballot 3  decided 8  lag 1");
  status.mutable_replicas(0)->set_incarnation(4);
  status.mutable_replicas(1)->set_state(control_v1::STATE_STOPPED);
  status.mutable_blocked()->set_by(1);
  status.mutable_blocked()->add_reported_by(0);
  status.mutable_blocked()->set_why("it sleeps");
  CHECK(status_line(status) == "leader 0 (incarnation 4)  replica 1 stopped  epoch 2  ballot 3  decided 8  lag 1  "
                               "blocked: replica 0 waits for replica 1: it sleeps");
}

}  // namespace
}  // namespace ingot
