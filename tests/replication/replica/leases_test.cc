// Leases in a group of cores: the leader's ticks end them on all replicas, and there are no ticks without leases.
#include <catch2/catch.hpp>

#include <cstdint>
#include <string>

#include "replication/replica/state_clock.h"
#include "replication/store/api.h"
#include "replication/store/tick.h"
#include "tests/replication/replica/cores_on_one_thread.h"

namespace ingot {
namespace {

// A group, and one client of it. Each round of a replica takes a millisecond.
struct Group {
  explicit Group(const std::string& agreement) : cores(agreement, 3) { pass(300); }

  void pass(int rounds) {
    for (; rounds > 0; --rounds) {
      for (int replica = silent; replica < cores.replicas(); ++replica) cores.round(replica);
      ms += static_cast<std::uint64_t>(cores.replicas() - silent);
    }
  }

  Request request(RequestKind kind, const std::string& payload) {
    Request request;
    request.kind = kind;
    request.client = 7;
    request.sequence = ++sequence;
    request.acknowledged_below = kind == RequestKind::kCommand ? sequence : 0;
    request.reply_to = cores.client();
    request.responder = EndpointId(1);
    request.payload = payload;
    return request;
  }

  kv::Result ask(int replica, RequestKind kind, const kv::Request& what) {
    const std::string payload = kv::encode(what);
    cores.request(replica, request(kind, payload));
    for (int i = 0; i < 1'000; ++i) {
      pass(1);
      const auto answers = cores.answers();
      if (answers.empty()) continue;
      const auto response = decode_response(answers[0]);
      REQUIRE(response);
      REQUIRE(response->status == Response::Status::kOk);
      return *kv::decode_result(response->payload);
    }
    FAIL("no answer");
    return {};
  }

  std::size_t leases(int replica) {
    const kv::Result result = ask(replica, RequestKind::kLocalQuery, kv::LeasesRequest{});
    return std::get<kv::LeasesResult>(result.body).ids.size();
  }

  CoresOnOneThread cores;
  int silent = 0;  // replicas below this have no rounds
  std::uint64_t sequence = 0;
  std::uint64_t ms = 0;
};

TEST_CASE("a lease ends on all replicas, not before its time, and then nothing is decided any more") {
  Group group(GENERATE("1paxos", "multipaxos", "2pc"));
  REQUIRE(group.ask(0, RequestKind::kCommand, kv::LeaseGrantRequest{5, 2}).code == kv::Code::kOk);
  const std::uint64_t granted_ms = group.ms;
  kv::PutRequest put;
  put.key = "a";
  put.lease = 5;
  REQUIRE(group.ask(0, RequestKind::kCommand, put).code == kv::Code::kOk);
  while (group.leases(2) > 0) REQUIRE(group.ms < granted_ms + 3'000);
  REQUIRE(group.ms >= granted_ms + 2'000);
  group.pass(10);
  for (int replica = 0; replica < 3; ++replica) REQUIRE(group.leases(replica) == 0);
  kv::RangeRequest range;
  range.key = "a";
  const kv::Result found = group.ask(0, RequestKind::kLinearizableQuery, range);
  REQUIRE(std::get<kv::RangeResult>(found.body).count == 0);
  REQUIRE(found.revision == 3);
  const Slot applied = group.cores.core(0).applier().applied();
  group.pass(1'000);
  REQUIRE(group.cores.core(0).applier().applied() == applied);
}

// Regression: nobody looked whether the leader lives while no client waited for it.
TEST_CASE("a lease ends although the leader is silent and no client waits") {
  Group group(GENERATE("1paxos", "multipaxos"));
  REQUIRE(group.ask(0, RequestKind::kCommand, kv::LeaseGrantRequest{5, 2}).code == kv::Code::kOk);
  group.pass(100);
  REQUIRE(group.cores.core(0).agreement().role() == Role::kLeader);
  group.silent = 1;
  const std::uint64_t silent_ms = group.ms;
  while (group.leases(2) > 0) REQUIRE(group.ms < silent_ms + 20'000);
  REQUIRE(group.cores.core(0).agreement().role() == Role::kLeader);  // as it believes
}

TEST_CASE("a client's tick is refused, whatever its session") {
  Group group("1paxos");
  REQUIRE(group.ask(0, RequestKind::kCommand, kv::LeaseGrantRequest{5, 60}).code == kv::Code::kOk);
  const std::string tick = encode(Tick{9, 1'000, 500});
  Request request = group.request(RequestKind::kCommand, tick);
  group.cores.request(0, request);
  const std::string put = kv::encode(kv::Request(kv::LeaseRevokeRequest{5}));
  request.client = kClockClient;
  request.payload = put;
  group.cores.request(0, request);
  group.pass(100);
  REQUIRE(group.cores.answers().empty());
  REQUIRE(group.leases(0) == 1);
}

}  // namespace
}  // namespace ingot
