// Successive statuses, described in words.
#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include "services/ingotctl/render/role_history.h"
#include "tests/services/ingotctl/role_example.h"

namespace ingot {
namespace {

using control_v1::GetStatusResponse;
using Catch::Matchers::EndsWith;

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
  status.mutable_blocked()->add_waits_for(1);
  status.mutable_blocked()->add_reported_by(0);
  status.mutable_blocked()->set_why("it sleeps");
  history.observe(status, start);
  CHECK(last() == "blocked: replica 0 waits for replica 1: it sleeps");
  status.clear_blocked();
  history.observe(status, start);
  CHECK(last() == "no longer blocked");
  status.mutable_supervisor()->set_state(control_v1::STATE_UP);
  history.observe(status, start);
  status.mutable_supervisor()->set_state(control_v1::STATE_DEAD);
  history.observe(status, start);
  CHECK(last() == "the supervisor died");
  status.mutable_supervisor()->set_state(control_v1::STATE_STOPPED);
  history.observe(status, start);
  CHECK(last() == "the supervisor is stopped");
  status.mutable_supervisor()->set_state(control_v1::STATE_UP);
  history.observe(status, start);
  CHECK(last() == "a supervisor runs");
  CHECK(history.lines().size() == 8);  // bounded: the oldest are dropped
}

}  // namespace
}  // namespace ingot
