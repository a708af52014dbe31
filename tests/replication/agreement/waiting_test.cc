// What keeps a group from deciding has a cause, at a replica that still runs, whichever run.
#include <catch2/catch.hpp>
#include <initializer_list>
#include <string>

#include "replication/agreement/messages.h"
#include "tests/replication/agreement/group.h"
#include "tests/replication/agreement/trace.h"

namespace ingot::testing {
namespace {

constexpr int kLong = 400;  // rounds

// A group in which everything is decided so far.
struct Scene {
  Scene(const std::string& kind, int replicas, int voters)
      : group({.kind = kind, .replicas = replicas, .voters = voters}) {
    group.propose(0, "first");
    group.deliver_all();
  }
  void stop(std::initializer_list<int> replicas) {
    for (const int replica : replicas) group.stop(replica, true);
  }
  void die(int replica) {
    group.crash(replica);
    for (int other = 0; other < group.replicas(); ++other) {
      if (group.runs(other)) group.report_death(other, replica);
    }
  }
  bool waits(int replica, Blocked why, std::initializer_list<int> by) {
    const AgreementStatus status = group.at(replica).status();
    ReplicaSet expected;
    for (const int each : by) expected.insert(each);
    UNSCOPED_INFO("replica " << replica << " " << describe_waiting(status));
    return status.why == why && status.blocked_by == expected;
  }

  Group group;
};

TEST_CASE("a group without work waits for nothing") {
  const std::string kind = GENERATE("1paxos", "multipaxos", "2pc");
  Scene scene(kind, 4, 3);
  for (int replica = 0; replica < 4; ++replica) CHECK(scene.waits(replica, Blocked::kNo, {}));
}

// Regression: the last replica that ran said that nothing waits.
TEST_CASE("a 1Paxos acceptor alone says that the leader is silent, until a voter that may lead goes on") {
  Scene scene("1paxos", 3, 3);
  scene.stop({0, 2});
  CHECK(scene.waits(1, Blocked::kNo, {}));
  scene.group.client_waits(1);
  CHECK(scene.waits(1, Blocked::kLeaderSilent, {0}));
  scene.group.run(kLong);
  CHECK(scene.waits(1, Blocked::kLeaderSilent, {0}));
  scene.group.stop(2, false);
  scene.group.run(kLong);
  CHECK(scene.group.at(1).leader() == EndpointId(2));
  CHECK(scene.waits(1, Blocked::kNo, {}));
}

TEST_CASE("a learner alone says that the leader is silent, or dead") {
  const std::string kind = GENERATE("1paxos", "multipaxos");
  Scene scene(kind, 4, 3);
  scene.stop({0, 1, 2});
  scene.group.client_waits(3);
  scene.group.run(kLong);
  CHECK(scene.waits(3, Blocked::kLeaderSilent, {0}));
  scene.die(0);
  scene.group.run(kLong);
  CHECK(scene.waits(3, Blocked::kLeaderDead, {0}));
}

TEST_CASE("a 1Paxos leader waits for its acceptor, then for a majority that replaces it") {
  const bool reads = GENERATE(false, true);
  Scene scene("1paxos", 3, 3);
  scene.stop({1, 2});
  if (reads) scene.group.read(0);
  else scene.group.propose(0, "a");
  CHECK(scene.waits(0, Blocked::kAcceptor, {1}));
  scene.group.run(kLong);
  CHECK(scene.waits(0, Blocked::kNoMajority, {1, 2}));
}

TEST_CASE("a voter alone that may lead waits for a majority") {
  const std::string kind = GENERATE("1paxos", "multipaxos");
  Scene scene(kind, 3, 3);
  scene.stop({0, 1});
  scene.group.client_waits(2);
  scene.group.run(kLong);
  CHECK(scene.waits(2, Blocked::kNoMajority, {0, 1}));
}

TEST_CASE("a 1Paxos leader whose acceptor is dead names the voters that a majority lacks") {
  Scene scene("1paxos", 5, 5);
  scene.die(3);
  scene.die(4);
  scene.die(1);
  scene.group.run(kLong);
  CHECK(scene.waits(0, Blocked::kNoMajority, {1, 3, 4}));
}

TEST_CASE("a 1Paxos acceptor alone says that the leader is dead") {
  Scene scene("1paxos", 3, 3);
  scene.stop({2});
  scene.die(0);
  scene.group.run(kLong);
  CHECK(scene.waits(1, Blocked::kLeaderDead, {0}));
}

TEST_CASE("a 1Paxos takeover waits for the acceptor, then for the former leader, too") {
  Scene scene("1paxos", 5, 5);
  scene.stop({0, 1});
  scene.group.client_waits(2);
  bool waited_for_acceptor = false;
  for (int round = 0; round < kLong; ++round) {
    scene.group.run(1);
    waited_for_acceptor = waited_for_acceptor || scene.waits(2, Blocked::kAcceptor, {1});
  }
  CHECK(waited_for_acceptor);
  CHECK(scene.waits(2, Blocked::kFormerLeader, {0}));
  CHECK(scene.group.at(2).status().blocked);
}

TEST_CASE("a 1Paxos takeover waits for a dead acceptor's segment to be read") {
  Scene scene("1paxos", 5, 5);
  scene.group.salvage_at_once = false;
  scene.group.crash(0);
  scene.group.crash(1);
  for (const int alive : {2, 3, 4}) {
    scene.group.report_death(alive, 0);
    scene.group.report_death(alive, 1);
  }
  scene.group.run(kLong);
  int leader = 2;
  while (leader < 4 && scene.group.at(leader).role() != Role::kLeader) ++leader;
  CHECK(scene.waits(leader, Blocked::kSegmentUnread, {1}));
}

TEST_CASE("a 1Paxos leader that has made way for a successor says so until it hears of it") {
  Scene scene("1paxos", 3, 3);
  Message step_down;
  step_down.type = MessageType::kStepDown;
  step_down.incarnation = Incarnation(1);
  step_down.epoch = Epoch(1);
  step_down.ballot = Ballot(2);
  step_down.number = 1;
  step_down.target = Incarnation(1);
  scene.group.receive(2, 0, encode(step_down));
  CHECK(scene.waits(0, Blocked::kSteppedDown, {}));
}

TEST_CASE("a Multi-Paxos leader waits for voters, for a command or for a read") {
  const bool reads = GENERATE(false, true);
  Scene scene("multipaxos", 3, 3);
  scene.stop({1, 2});
  if (reads) scene.group.read(0);
  else scene.group.propose(0, "a");
  CHECK(scene.waits(0, Blocked::kVoters, {1, 2}));
  scene.group.run(kLong);
  CHECK(scene.waits(0, Blocked::kVoters, {1, 2}));
}

TEST_CASE("2PC: a coordinator names all participants that do not answer") {
  Scene scene("2pc", 3, 3);
  scene.stop({1, 2});
  scene.group.propose(0, "a");
  scene.group.run(kLong);
  CHECK(scene.waits(0, Blocked::kParticipant, {1, 2}));
}

TEST_CASE("2PC: a participant that is asked in vain says that the coordinator is silent") {
  Scene scene("2pc", 3, 3);
  scene.stop({0});
  scene.group.client_waits(1);
  scene.group.run(kLong);
  CHECK(scene.waits(1, Blocked::kCoordinator, {0}));
  CHECK(scene.waits(2, Blocked::kNo, {}));
  scene.group.stop(0, false);
  scene.group.run(kLong);
  CHECK(scene.waits(1, Blocked::kNo, {}));
}

// A later incarnation stopped and went on: the one that led is dead all the same.
TEST_CASE("a Multi-Paxos voter whose leader was started again stands in its turn, though that one stops and goes on") {
  Group group({.kind = "multipaxos", .replicas = 3});
  group.crash(0);
  group.restart(0);
  group.deliver(0, 2);  // its greeting
  REQUIRE_FALSE(group.at(2).status().taking_over);  // voter 1 comes first
  group.report_stop(2, 0);
  group.report_continued(2, 0);
  for (int i = 0; i < kLong && group.at(2).wants_tick(); ++i) group.tick(2);
  CHECK(group.at(2).status().taking_over);
}

}  // namespace
}  // namespace ingot::testing
