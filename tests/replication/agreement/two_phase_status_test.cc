// The status of a blocked 2PC group: the missing replica, the slots, and the time.
#include <string>

#include <catch2/catch.hpp>

#include "tests/replication/agreement/group.h"

namespace ingot::testing {
namespace {

std::string explain(Group& group, int replica) { return explain_blocked(group.at(replica).status()); }

void tick(Group& group, int replica, int ticks) {
  for (int i = 0; i < ticks; ++i) group.tick(replica);
}

Effects effects;  // of inputs without effects

TEST_CASE("a replica that is not blocked reports no cause") {
  Group group({.kind = "2pc"});
  CHECK(explain(group, 0).empty());
  group.propose(0, "a");
  tick(group, 0, kBlockedTicks - 1);
  CHECK(explain(group, 0).empty());
  group.deliver_all();
  CHECK(explain(group, 0).empty());
  CHECK(explain(group, 1).empty());
}

TEST_CASE("a coordinator names the participant that does not answer") {
  Group group({.kind = "2pc"});
  for (const char* command : {"a", "b", "c"}) group.propose(0, command);
  group.deliver(0, 1);
  group.deliver(1, 0);  // slot 0 waits for replica 2 alone
  tick(group, 0, kBlockedTicks + 100);
  CHECK(explain(group, 0) ==
        "waits for replica 2: a participant does not answer; slots 0 to 2 wait; nothing was decided for 1000 ms");
  group.deliver_all();
  CHECK(explain(group, 0).empty());
}

TEST_CASE("a participant names the coordinator that does not answer") {
  Group group({.kind = "2pc"});
  for (const char* command : {"a", "b"}) group.propose(0, command);
  group.deliver(0, 1);
  tick(group, 1, kBlockedTicks);
  CHECK(explain(group, 1) ==
        "waits for replica 0: the coordinator does not answer, and prepared commands are in doubt; slot 0 waits; "
        "nothing was decided for 500 ms");
  CHECK(explain(group, 2).empty());  // nothing is in doubt there
}

TEST_CASE("a death is reported at once, whether or not a slot waits") {
  Group group({.kind = "2pc"});
  const ReplicaIncarnation coordinator{EndpointId(0), Incarnation(1)};
  const ReplicaIncarnation participant{EndpointId(2), Incarnation(1)};
  group.at(1).peer_died(coordinator, effects);
  CHECK(explain(group, 1) ==
        "waits for replica 0: the coordinator is dead, and in two-phase commit nobody else may decide");
  group.at(0).peer_died(participant, effects);
  CHECK(explain(group, 0) ==
        "waits for replica 2: a participant is dead, and two-phase commit decides nothing without all of them");
  group.propose(0, "a");
  group.deliver(0, 1);
  CHECK(explain(group, 1) ==
        "waits for replica 0: the coordinator is dead, and in two-phase commit nobody else may decide; slot 0 waits");
  CHECK(effects.empty());
}

TEST_CASE("a later incarnation takes no part, and reports that") {
  Group group({.kind = "2pc"});
  group.restart(2);
  CHECK(group.at(2).status().blocked_by == EndpointId(2));
  group.at(0).peer_started({EndpointId(2), Incarnation(2)}, effects);
  CHECK(group.at(0).status().why == Blocked::kParticipantDead);
}

}  // namespace
}  // namespace ingot::testing
