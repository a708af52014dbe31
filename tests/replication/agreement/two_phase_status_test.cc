// What a 2PC replica waits for: the missing replicas, and the slots.
#include <string>

#include <catch2/catch.hpp>

#include "tests/replication/agreement/group.h"

namespace ingot::testing {
namespace {

AgreementStatus status_of(Group& group, int replica) { return group.at(replica).status(); }

bool waits(Group& group, int replica, Blocked why, ReplicaSet by) {
  const AgreementStatus status = status_of(group, replica);
  return status.why == why && status.blocked_by == by && !status.blocked;
}

Effects effects;  // of inputs without effects

TEST_CASE("a replica that waits for nothing reports no cause") {
  Group group({.kind = "2pc"});
  CHECK(waits(group, 0, Blocked::kNo, {}));
  group.propose(0, "a");
  group.deliver_all();
  for (int replica = 0; replica < 3; ++replica) CHECK(waits(group, replica, Blocked::kNo, {}));
}

TEST_CASE("a coordinator names the participants that do not answer, and the slots that wait") {
  Group group({.kind = "2pc"});
  for (const char* command : {"a", "b", "c"}) group.propose(0, command);
  CHECK(waits(group, 0, Blocked::kParticipant, ReplicaSet::from_bits(0b110)));
  group.deliver(0, 1);
  group.deliver(1, 0);
  CHECK(waits(group, 0, Blocked::kParticipant, ReplicaSet::of(2)));
  AgreementStatus status = status_of(group, 0);
  status.blocked = true;
  status.blocked_ms = 1000;
  CHECK(explain_blocked(status) ==
        "waits for replica 2: a participant does not answer; slots 0 to 2 wait; nothing was decided for 1000 ms; it "
        "ends when that replica goes on");
  group.deliver_all();
  CHECK(waits(group, 0, Blocked::kNo, {}));
}

TEST_CASE("a participant in doubt names the coordinator") {
  Group group({.kind = "2pc"});
  for (const char* command : {"a", "b"}) group.propose(0, command);
  group.deliver(0, 1);
  CHECK(waits(group, 1, Blocked::kCoordinator, ReplicaSet::of(0)));
  CHECK(status_of(group, 1).blocked_from == Slot(0));
  CHECK(status_of(group, 1).blocked_to == Slot(1));
  CHECK(waits(group, 2, Blocked::kNo, {}));  // nothing is in doubt there
}

TEST_CASE("a stopped coordinator is named by a participant that holds nothing in doubt but is asked by a client") {
  Group group({.kind = "2pc"});
  group.stop(0, true);
  group.client_waits(1);
  group.run(30);
  CHECK(waits(group, 1, Blocked::kCoordinator, ReplicaSet::of(0)));
  CHECK(waits(group, 2, Blocked::kNo, {}));
  group.stop(0, false);
  group.run(30);
  CHECK(waits(group, 1, Blocked::kNo, {}));
}

TEST_CASE("a death is reported at once, whether or not a slot waits") {
  Group group({.kind = "2pc"});
  const ReplicaIncarnation coordinator{EndpointId(0), Incarnation(1)};
  const ReplicaIncarnation participant{EndpointId(2), Incarnation(1)};
  group.at(0).peer_died(participant, effects);
  group.at(1).peer_died(participant, effects);
  const std::string dead =
      "waits for replica 2: a participant is dead, and two-phase commit decides nothing without all of them; it does "
      "not end: start a new instance";
  CHECK(explain_blocked(status_of(group, 0)) == dead);
  CHECK(explain_blocked(status_of(group, 1)) == dead);
  group.propose(0, "a");
  group.deliver(0, 1);
  group.at(1).peer_died(coordinator, effects);
  CHECK(explain_blocked(status_of(group, 1)) ==
        "waits for replica 0: the coordinator is dead, and in two-phase commit no other replica may decide; slot 0 "
        "waits; it "
        "does not end: start a new instance");
  CHECK(effects.empty());
}

TEST_CASE("a later incarnation takes no part, and reports that") {
  Group group({.kind = "2pc"});
  group.restart(2);
  CHECK(status_of(group, 2).blocked_by == ReplicaSet::of(2));
  group.at(0).peer_started({EndpointId(2), Incarnation(2)}, effects);
  CHECK(status_of(group, 0).why == Blocked::kParticipantDead);
}

}  // namespace
}  // namespace ingot::testing
