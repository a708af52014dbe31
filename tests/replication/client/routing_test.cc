// Which replica gets a request and which one answers it, as deaths and restarts become known.
#include "replication/client/routing.h"

#include <catch2/catch.hpp>

#include "replication/client/replica_client.h"

namespace ingot {
namespace {

constexpr EndpointId kZero{0};
constexpr EndpointId kOne{1};
constexpr EndpointId kTwo{2};

Routing three() { return Routing(3, kZero, kOne, kTwo); }

Response roles(Slot slot, EndpointId leader, EndpointId acceptor) {
  Response response;
  response.slot = slot;
  response.leader = leader;
  response.acceptor = acceptor;
  return response;
}

}  // namespace

TEST_CASE("commands and linearizable queries go to the leader, others to the replica that is wanted, or the nearest") {
  const Routing routing = three();
  REQUIRE(routing.target(RequestKind::kCommand, ReplicaClient::kAnyReplica, 0) == kZero);
  REQUIRE(routing.target(RequestKind::kLinearizableQuery, kTwo, 3) == kZero);
  REQUIRE(routing.target(RequestKind::kLocalQuery, ReplicaClient::kAnyReplica, 0) == kTwo);
  REQUIRE(routing.target(RequestKind::kLocalQuery, ReplicaClient::kAnyReplica, 1) == kZero);
  REQUIRE(routing.target(RequestKind::kDigest, kOne, 1) == kOne);
}

TEST_CASE("the newest answer names the leader and the acceptor") {
  Routing routing = three();
  REQUIRE(routing.answered(roles(Slot(9), kTwo, kZero)));
  REQUIRE(routing.leader() == kTwo);
  REQUIRE(routing.responder(0) == kZero);
  REQUIRE_FALSE(routing.answered(roles(Slot(8), kOne, kOne)));
  REQUIRE(routing.leader() == kTwo);
  REQUIRE(routing.responder(0) == kZero);
  REQUIRE_FALSE(routing.answered(roles(Slot(10), EndpointId(7), EndpointId(7))));
  REQUIRE(routing.leader() == kTwo);
}

TEST_CASE("a dead leader is followed by another, and no hint brings it back") {
  Routing routing = three();
  REQUIRE(routing.died(kZero));
  REQUIRE_FALSE(routing.died(kZero));
  REQUIRE(routing.leader() == kOne);
  REQUIRE_FALSE(routing.follow(kZero));
  REQUIRE(routing.follow(kTwo));
}

TEST_CASE("a replica that was started again responds once it has applied what was answered before") {
  Routing routing = three();
  routing.answered(roles(Slot(20), kZero, kOne));
  routing.died(kOne);
  REQUIRE(routing.responder(0) == kTwo);
  REQUIRE_FALSE(routing.any_lags());
  routing.restarted(kOne, /*lags=*/true);
  REQUIRE(routing.any_lags());
  REQUIRE(routing.target(RequestKind::kDigest, kOne, 0) == kOne);
  routing.applied(kOne, Slot(19));
  REQUIRE(routing.responder(0) == kTwo);
  routing.applied(kOne, Slot(20));
  REQUIRE(routing.responder(0) == kOne);
  REQUIRE_FALSE(routing.any_lags());
}

TEST_CASE("a dead replica is not chosen as responder, whatever its page shows") {
  Routing routing = three();
  routing.died(kOne);
  routing.applied(kOne, Slot(100));
  REQUIRE(routing.lags(kOne));
  REQUIRE(routing.responder(0) == kTwo);
}

TEST_CASE("replicas that lag are better than dead ones, and dead ones better than none") {
  Routing routing = three();
  for (const EndpointId replica : {kZero, kOne, kTwo}) routing.died(replica);
  REQUIRE(routing.responder(0) == kOne);
  routing.restarted(kZero, /*lags=*/true);
  REQUIRE(routing.responder(0) == kZero);
}

TEST_CASE("a stopped leader is followed by another, and no hint brings it back until it goes on") {
  Routing routing = three();
  REQUIRE(routing.stopped(kZero));
  REQUIRE_FALSE(routing.stopped(kZero));
  REQUIRE(routing.leader() == kOne);
  REQUIRE_FALSE(routing.follow(kZero));
  routing.leads_not(kOne);
  REQUIRE(routing.leader() == kTwo);
  routing.leads_not(kTwo);
  REQUIRE(routing.leader() == kOne);
  routing.continued(kZero);
  REQUIRE(routing.follow(kZero));
}

TEST_CASE("a stopped replica is not chosen as responder, nor asked, while another one runs") {
  Routing routing = three();
  REQUIRE(routing.stopped(kOne));
  REQUIRE(routing.leader() == kZero);
  REQUIRE(routing.responder(0) == kTwo);
  REQUIRE(routing.target(RequestKind::kLocalQuery, ReplicaClient::kAnyReplica, 2) == kTwo);
  REQUIRE(routing.next_to_ask() == kTwo);
  REQUIRE(routing.next_to_ask() == kTwo);
  REQUIRE(routing.stopped(kTwo));
  REQUIRE(routing.responder(0) == kZero);
  REQUIRE(routing.stopped(kZero));
  REQUIRE(routing.responder(0) == kOne);  // all are stopped: as if none was
}

TEST_CASE("a stopped replica that dies is dead, and its next incarnation is not doubted") {
  Routing routing = three();
  REQUIRE(routing.stopped(kOne));
  REQUIRE(routing.died(kOne));
  REQUIRE_FALSE(routing.stopped(kOne));
  routing.restarted(kOne, /*lags=*/false);
  REQUIRE_FALSE(routing.doubted(kOne));
  REQUIRE(routing.responder(0) == kOne);
}

TEST_CASE("every replica but the leader is asked in turn") {
  Routing routing = three();
  REQUIRE(routing.next_to_ask() == kOne);
  REQUIRE(routing.next_to_ask() == kTwo);
  REQUIRE(routing.next_to_ask() == kOne);
  Routing alone(1, kZero, kZero, kZero);
  REQUIRE_FALSE(alone.next_to_ask());
}

// Regression: simulator seed 4000066. The leader was stopped after the others had been started again: they lagged, so
// no client asked them, and none of them replaced the leader.
TEST_CASE("replicas that lag are asked, too, while the leader is silent") {
  Routing routing = three();
  for (const EndpointId replica : {kOne, kTwo}) {
    routing.died(replica);
    routing.restarted(replica, /*lags=*/true);
  }
  REQUIRE(routing.next_to_ask() == kOne);
  REQUIRE(routing.next_to_ask() == kTwo);
  routing.died(kOne);
  REQUIRE(routing.next_to_ask() == kTwo);
}

}  // namespace ingot
