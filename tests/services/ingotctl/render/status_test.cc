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

TEST_CASE("the store has a line below the table, and its object comes after the replicas") {
  auto status = example();
  auto& store = *status.mutable_store();
  store.set_live_bytes(10 * 1024 * 1024);
  store.set_history_bytes(1023);
  CHECK_THAT(status_table(status, false),
             Catch::Matchers::EndsWith("\nstore: 10.0 MiB, no quota: 10.0 MiB live, 1023 B history\n"));
  store.set_quota_bytes(std::uint64_t{3} << 29);
  CHECK_THAT(status_table(status, false),
             Catch::Matchers::EndsWith("\nstore: 10.0 MiB of 1.5 GiB: 10.0 MiB live, 1023 B history\n"));
  store.set_no_space(true);
  CHECK_THAT(status_table(status, false),
             Catch::Matchers::EndsWith(" history; NOSPACE: puts are refused until ingotctl alarm disarm\n"));
  CHECK_THAT(status_json(status, false),
             Catch::Matchers::EndsWith(R"("lag":1}],"store":{"live_bytes":10485760,"history_bytes":1023,)"
                                       R"("quota_bytes":1610612736,"no_space":true}})"));
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
  status.mutable_blocked()->add_waits_for(1);
  status.mutable_blocked()->add_reported_by(0);
  status.mutable_blocked()->set_why("too few of the voters answer");
  status.mutable_blocked()->set_details("too few of the voters answer; slot 3 waits");
  const std::string json = status_json(status, true);
  CHECK_THAT(json, Contains(R"("lag":0,"digest":"00000000000000ab","digest_slot":8})"));
  CHECK_THAT(json, Contains(R"("lag":1,"digest":null,"digest_slot":null}])"));
  CHECK_THAT(json,
             Catch::Matchers::EndsWith(R"(],"blocked":{"by":1,"waits_for":[1],"reported_by":[0],)"
                                       R"("why":"too few of the voters answer",)"
                                       R"("details":"too few of the voters answer; slot 3 waits"}})"));
  CHECK_THAT(status_table(status, false),
             Catch::Matchers::EndsWith(
                 "blocked: replica 0 waits for replica 1: too few of the voters answer; slot 3 waits\n"));
}

TEST_CASE("a former instance whose data is gone is told of below the table, and at the object's end") {
  auto status = example();
  CHECK_THAT(status_table(status, false), !Contains("former"));
  status.mutable_instance()->set_lost_former_unix_ms(1'700'000'000'000);
  CHECK_THAT(status_table(status, false),
             Catch::Matchers::EndsWith("a former instance of this name, which served from 2023-11-14T22:13:20+00:00 "
                                       "on, ended without a clean stop: its data is gone, and this one began empty\n"));
  CHECK_THAT(status_json(status, false), Catch::Matchers::EndsWith(R"(],"lost_former_unix_ms":1700000000000})"));
}

TEST_CASE("a supervisor that is dead or stopped has its line, and one that runs has none") {
  auto status = example();
  const std::string with_none = status_table(status, false);
  status.mutable_supervisor()->set_state(control_v1::STATE_UP);
  CHECK(status_table(status, false) == with_none);
  CHECK(status_json(status, false) == status_json(example(), false));
  CHECK(status_line(status) == status_line(example()));

  status.mutable_supervisor()->set_state(control_v1::STATE_STOPPED);
  CHECK_THAT(status_table(status, false),
             Catch::Matchers::EndsWith("supervisor: stopped; until it goes on, nothing that dies is started again\n"));
  CHECK_THAT(status_json(status, false), Catch::Matchers::EndsWith(R"(],"supervisor":{"state":"stopped"}})"));
  CHECK_THAT(status_line(status), Catch::Matchers::EndsWith("  lag 1  supervisor stopped"));

  status.mutable_supervisor()->set_state(control_v1::STATE_DEAD);
  status.mutable_supervisor()->mutable_down()->set_seconds(12);
  status.mutable_supervisor()->mutable_down()->set_nanos(345'000'000);
  status.mutable_supervisor()->mutable_ends_in()->set_seconds(17);
  CHECK_THAT(status_table(status, false),
             Catch::Matchers::EndsWith("supervisor: dead for 12s; nothing that dies is started again, and all ends in "
                                       "17s unless an ingotd of the same name and flags takes over\n"));
  CHECK_THAT(status_json(status, false),
             Catch::Matchers::EndsWith(R"(],"supervisor":{"state":"dead","down_ms":12345,"ends_in_ms":17000}})"));
  CHECK_THAT(status_line(status), Catch::Matchers::EndsWith("  lag 1  supervisor dead, all ends in 17s"));
}

TEST_CASE("kept segments that make writes wait have their line, and their object after the block") {
  auto status = example();
  CHECK_THAT(status_json(status, false), !Contains("kept_segments"));
  status.mutable_kept_segments()->set_segments(3);
  status.mutable_kept_segments()->set_bytes(2'097'152);
  status.mutable_kept_segments()->set_why("writes wait for a reason");
  CHECK_THAT(status_table(status, false), Catch::Matchers::EndsWith("\nwrites wait for a reason\n"));
  CHECK_THAT(status_json(status, false),
             Catch::Matchers::EndsWith(
                 R"(],"kept_segments":{"segments":3,"bytes":2097152,"why":"writes wait for a reason"}})"));
  status.mutable_blocked()->set_why("why");
  CHECK_THAT(status_json(status, false), Contains(R"("details":""},"kept_segments":{)"));
}

TEST_CASE("a block names the replicas that wait and those waited for, if there are any") {
  control_v1::Blocked blocked;
  blocked.set_by(0);
  blocked.add_waits_for(0);
  blocked.add_reported_by(1);
  CHECK(blocked_text(blocked, "why") == "blocked: replica 1 waits for replica 0: why");
  blocked.add_waits_for(3);
  blocked.add_reported_by(2);
  CHECK(blocked_text(blocked, "why") == "blocked: replicas 1, 2 wait for replicas 0, 3: why");
  blocked.clear_waits_for();
  CHECK(blocked_text(blocked, "why") == "blocked: replicas 1, 2: why");
  blocked.clear_reported_by();
  CHECK(blocked_text(blocked, "why") == "blocked: why");
}

TEST_CASE("replica 0 is told from no particular replica in JSON, too") {
  auto status = example();
  status.mutable_blocked()->set_why("why");
  CHECK_THAT(status_json(status, false), Contains(R"("blocked":{"by":null,"waits_for":[],)"));
  status.mutable_blocked()->set_by(0);
  status.mutable_blocked()->add_waits_for(0);
  CHECK_THAT(status_json(status, false), Contains(R"("blocked":{"by":0,"waits_for":[0],)"));
}

TEST_CASE("a line names the leader, missing replicas and the group's progress") {
  auto status = example();
  CHECK(status_line(status) == "leader 0  acceptor 1  epoch 2  ballot 3  decided 8  lag 1");
  status.mutable_replicas(0)->set_incarnation(4);
  status.mutable_replicas(1)->set_state(control_v1::STATE_STOPPED);
  status.mutable_blocked()->set_by(1);
  status.mutable_blocked()->add_waits_for(1);
  status.mutable_blocked()->add_reported_by(0);
  status.mutable_blocked()->set_why("it sleeps");
  CHECK(status_line(status) == "leader 0 (incarnation 4)  replica 1 stopped  epoch 2  ballot 3  decided 8  lag 1  "
                               "blocked: replica 0 waits for replica 1: it sleeps");
}

}  // namespace
}  // namespace ingot
