// ingotctl's output for drills, moves and successive statuses.
#include <catch2/catch.hpp>

#include "services/ingotctl/verbs/drill.h"
#include "services/ingotctl/render/drill.h"
#include "services/ingotctl/render/role_history.h"

namespace ingot {
namespace {

using control_v1::GetStatusResponse;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

TEST_CASE("targets of drills are parsed, and other words refused") {
  CHECK(parse_target("leader")->target() == control_v1::DrillRequest::TARGET_LEADER);
  CHECK(parse_target("both")->target() == control_v1::DrillRequest::TARGET_BOTH);
  CHECK(parse_target("front-end")->target() == control_v1::DrillRequest::TARGET_FRONT_END);
  CHECK(parse_target("replica=47")->replica() == 47);
  for (const char* wrong : {"", "replica", "replica=", "replica=-1", "replica=x", "replica=1x", "frontend", "0"}) {
    CHECK(!parse_target(wrong));
  }
}

control_v1::DrillResponse example() {
  control_v1::DrillResponse told;
  auto& replica = *told.add_hits();
  replica.set_process(control_v1::Hit::PROCESS_REPLICA);
  replica.set_replica(2);
  replica.set_pid(4711);
  replica.set_incarnation(3);
  replica.set_role(control_v1::ROLE_LEADER);
  auto& supervisor = *told.add_hits();
  supervisor.set_process(control_v1::Hit::PROCESS_SUPERVISOR);
  supervisor.set_pid(12);
  return told;
}

TEST_CASE("a drill is printed as a table, a line and JSON") {
  auto told = example();
  CHECK(drill_json("kill", told) ==
        R"({"action":"kill","hits":[{"process":"replica","id":2,"pid":4711,"incarnation":3,"role":"leader"},)"
        R"({"process":"supervisor","id":null,"pid":12,"incarnation":null,"role":null}],"outage":null})");
  CHECK(drill_table(told) ==
        "PROCESS     ID   PID  INCARNATION  ROLE\n"
        "replica      2  4711            3  leader\n"
        "supervisor   -    12            -  -\n");
  told.mutable_outage()->mutable_gap()->set_nanos(1'500'000);
  told.mutable_outage()->set_writes(3);
  CHECK_THAT(drill_json("stop", told), EndsWith(R"("outage":{"gap_ms":1.5,"writes":3}})"));
  CHECK_THAT(outage_line(told.outage()), Contains("no write was committed for 1.500 ms (measured by the front end with 3 "
                                                  "empty transactions"));
}

// Three replicas; 0 leads, 1 accepts, ballot 5.
GetStatusResponse group() {
  GetStatusResponse status;
  for (std::uint32_t id : {0u, 1u, 2u}) {
    auto& replica = *status.add_replicas();
    replica.set_id(id);
    replica.set_pid(100 + id);
    replica.set_incarnation(1);
    replica.set_state(control_v1::STATE_UP);
    replica.set_epoch(1);
    replica.set_ballot(5);
    replica.set_role(control_v1::ROLE_REPLICA);
  }
  status.mutable_replicas(0)->set_role(control_v1::ROLE_LEADER);
  status.mutable_replicas(1)->set_role(control_v1::ROLE_ACCEPTOR);
  return status;
}

void give(GetStatusResponse& status, int id, control_v1::Role role, std::uint64_t ballot) {
  for (auto& replica : *status.mutable_replicas()) {
    if (replica.role() == role) replica.set_role(control_v1::ROLE_REPLICA);
  }
  status.mutable_replicas(id)->set_role(role);
  status.mutable_replicas(id)->set_ballot(ballot);
}

TEST_CASE("a move is done when the requested replica has the role in a newer configuration") {
  GetStatusResponse status = group();
  MoveWatch watch(control_v1::ROLE_LEADER, 2, 5);
  CHECK(watch.observe(status) == MoveWatch::Outcome::kPending);
  give(status, 2, control_v1::ROLE_LEADER, 6);
  CHECK(watch.observe(status) == MoveWatch::Outcome::kDone);
  CHECK(watch.holder()->id() == 2);
  control_v1::MoveResponse begun;
  begun.set_asked(2);
  CHECK(move_json("leader", 2, begun, &watch) ==
        R"({"role":"leader","to":2,"asked":2,"done":true,"holder":2,"epoch":1,"ballot":6})");
  CHECK(move_json("leader", 2, begun, nullptr) ==
        R"({"role":"leader","to":2,"asked":2,"done":null,"holder":null,"epoch":null,"ballot":null})");
}

TEST_CASE("a move is lost when another replica keeps the role in a newer configuration, not at one poll only") {
  GetStatusResponse status = group();
  MoveWatch watch(control_v1::ROLE_ACCEPTOR, 2, 5);
  status.mutable_replicas(1)->set_ballot(6);  // read while replica 1 was writing
  CHECK(watch.observe(status) == MoveWatch::Outcome::kPending);
  CHECK(watch.observe(group()) == MoveWatch::Outcome::kPending);
  give(status, 0, control_v1::ROLE_ACCEPTOR, 7);
  int polls = 1;
  while (watch.observe(status) == MoveWatch::Outcome::kPending) ++polls;
  CHECK(polls == 5);
  CHECK(watch.holder()->id() == 0);
  for (auto& replica : *status.mutable_replicas()) replica.set_state(control_v1::STATE_STOPPED);
  CHECK(watch.observe(status) == MoveWatch::Outcome::kPending);
  CHECK(!watch.holder());
}

TEST_CASE("changes between two statuses are described in words, newest last") {
  RoleHistory history;
  const RoleHistory::Clock::time_point start;
  GetStatusResponse status = group();
  history.observe(status, start);
  history.observe(status, start);
  CHECK(history.lines().empty());
  const auto last = [&] { return history.lines().back().substr(std::string("00:00:00.000  ").size()); };

  status.mutable_replicas(0)->set_state(control_v1::STATE_DEAD);
  status.mutable_replicas(0)->set_pid(0);
  status.mutable_replicas(0)->set_role(control_v1::ROLE_REPLICA);
  history.observe(status, start);
  REQUIRE(history.lines().size() == 2);
  CHECK_THAT(history.lines()[0], EndsWith("replica 0 (pid 100, incarnation 1) died"));
  CHECK(last() == "nobody leads");

  give(status, 2, control_v1::ROLE_LEADER, 6);
  history.observe(status, start + std::chrono::milliseconds(251));
  CHECK(last() == "replica 2 leads: epoch 1, ballot 6, after 251 ms with nobody");
  CHECK(history.lines().back().substr(8, 6) == ".251  ");

  status.mutable_replicas(0)->set_incarnation(2);
  status.mutable_replicas(0)->set_pid(200);
  status.mutable_replicas(0)->set_state(control_v1::STATE_STARTING);
  history.observe(status, start);
  CHECK(last() == "replica 0 starts: incarnation 2, pid 200");
  status.mutable_replicas(0)->set_state(control_v1::STATE_UP);
  history.observe(status, start);
  CHECK(last() == "replica 0 is up: incarnation 2, pid 200");

  status.mutable_replicas(1)->set_state(control_v1::STATE_STOPPED);
  give(status, 0, control_v1::ROLE_ACCEPTOR, 7);
  status.mutable_replicas(0)->set_epoch(2);
  history.observe(status, start);
  CHECK(last() == "replica 0 is the acceptor: epoch 2, ballot 7");
  status.mutable_replicas(1)->set_state(control_v1::STATE_UP);
  history.observe(status, start);
  CHECK(last() == "replica 1 goes on");

  status.mutable_blocked()->set_by(1);
  status.mutable_blocked()->add_reported_by(0);
  status.mutable_blocked()->set_why("it sleeps");
  history.observe(status, start);
  CHECK(last() == "blocked: replica 0 waits for replica 1: it sleeps");
  status.clear_blocked();
  history.observe(status, start);
  CHECK(last() == "no longer blocked");
  CHECK(history.lines().size() == 8);  // bounded: the oldest are dropped
}

}  // namespace
}  // namespace ingot
