// ingotctl's tables, JSON and lines.
#include <catch2/catch.hpp>
#include <string>

#include "services/ingotctl/render/kv.h"
#include "services/ingotctl/render/screen.h"
#include "services/ingotctl/render/status.h"

namespace ingot {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("cells show bytes that would break a table") {
  CHECK(printable("plain ünï") == "plain ünï");
  CHECK(printable("a\nb\tc\\") == "a\\nb\\tc\\\\");
  CHECK(printable(std::string("\0\x1b\x7f", 3)) == "\\x00\\x1b\\x7f");
  CHECK(printable("\xff\xc3") == "\\xff\\xc3");
  CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");          // overlong
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // a surrogate
  CHECK(printable("\xf0\x9f\x98\x80") == "\xf0\x9f\x98\x80");
}

TEST_CASE("JSON keeps bytes that are not text") {
  mvccpb::KeyValue kv;
  kv.set_key("k");
  kv.set_value("\xff\x01");
  kv.set_version(3);
  CHECK(key_value_json(kv).dump() ==
        R"({"key":"k","create_revision":0,"mod_revision":0,"version":3,"lease":0,"value_base64":"/wE="})");
}

TEST_CASE("a prefix ends before the next key that does not have it") {
  CHECK(prefix_end("a") == "b");
  CHECK(prefix_end("a/") == "a0");
  CHECK(prefix_end("a\xff") == "b");
  CHECK(prefix_end("\xff\xff") == std::string(1, '\0'));
  CHECK(prefix_end("") == std::string(1, '\0'));
}

control_v1::GetStatusResponse example() {
  control_v1::GetStatusResponse status;
  auto& instance = *status.mutable_instance();
  instance.set_name("ingot-2379");
  instance.set_agreement("1paxos");
  instance.set_transport("nvp");
  instance.set_backend("shm");
  instance.set_isolation("process");
  for (std::uint32_t id : {0u, 1u}) {
    auto& replica = *status.add_replicas();
    replica.set_id(id);
    replica.set_pid(100 + id);
    replica.set_incarnation(1);
    replica.set_state(control_v1::STATE_UP);
    replica.set_core(id);
    replica.set_voter(true);
    replica.set_role(id == 0 ? control_v1::ROLE_LEADER : control_v1::ROLE_ACCEPTOR);
    replica.set_epoch(2);
    replica.set_ballot(3);
    replica.set_proposed(9);
    replica.set_decided(8);
    replica.set_applied(8 - id);
    replica.set_lag(id);
  }
  return status;
}

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
  CHECK_THAT(json, Catch::Matchers::EndsWith(R"(],"blocked":{"by":1,"reported_by":[0],"why":"too few of the voters answer",)"
                                                R"("details":"too few of the voters answer; slot 3 waits"}})"));
  CHECK_THAT(status_table(status, false),
             Catch::Matchers::EndsWith("blocked: replica 0 waits for replica 1: too few of the voters answer; slot 3 waits\n"));
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

TEST_CASE("the screen marks the replica that has just changed") {
  StatusScreen screen;
  auto status = example();
  CHECK_THAT(screen.draw(status), !Contains("\x1b[7m"));
  status.mutable_replicas(1)->set_role(control_v1::ROLE_LEADER);
  const std::string drawn = screen.draw(status);
  CHECK_THAT(drawn, Contains("\x1b[7m 1  101"));
  CHECK_THAT(drawn, Contains("\x1b[1m 0  100"));
}

}  // namespace
}  // namespace ingot
