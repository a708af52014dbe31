// When a move is done, and when it is lost.
#include <catch2/catch.hpp>

#include "services/ingotctl/move_watch.h"
#include "tests/services/ingotctl/role_example.h"

namespace ingot {
namespace {

using control_v1::GetStatusResponse;

TEST_CASE("a move is done when the requested replica has the role in a newer configuration") {
  GetStatusResponse status = group();
  MoveWatch watch(control_v1::ROLE_LEADER, 2, 5);
  CHECK(watch.observe(status) == MoveWatch::Outcome::kPending);
  give(status, 2, control_v1::ROLE_LEADER, 6);
  CHECK(watch.observe(status) == MoveWatch::Outcome::kDone);
  CHECK(watch.holder()->id() == 2);
}

TEST_CASE("a move to the replica that has the role is done at once, and lost if that has lost it since") {
  GetStatusResponse status = group();
  MoveWatch watch(control_v1::ROLE_LEADER, 0, std::nullopt);
  CHECK(watch.observe(status) == MoveWatch::Outcome::kDone);
  give(status, 2, control_v1::ROLE_LEADER, 6);
  int polls = 1;
  while (watch.observe(status) == MoveWatch::Outcome::kPending) ++polls;
  CHECK(polls == 5);
  CHECK(watch.holder()->id() == 2);
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

}  // namespace
}  // namespace ingot
