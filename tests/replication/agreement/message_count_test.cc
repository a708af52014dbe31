// Messages between replicas for one commit: the table of docs/agreement.md.
#include <catch2/catch.hpp>

#include "tests/replication/agreement/group.h"

namespace ingot::testing {
namespace {

constexpr std::uint64_t kCommits = 100;

// Commits one command at a time, with all messages delivered in between.
std::uint64_t messages_per_commit(const std::string& kind, int replicas, int voters) {
  Group group({.kind = kind, .replicas = replicas, .voters = voters});
  for (std::uint64_t commit = 0; commit < kCommits; ++commit) {
    group.propose(0, "command");
    group.deliver_all();
  }
  for (int replica = 0; replica < replicas; ++replica) {
    REQUIRE(group.at(replica).status().decided == Slot(kCommits));
    REQUIRE_FALSE(group.at(replica).wants_tick());
  }
  REQUIRE(group.messages_sent() % kCommits == 0);
  return group.messages_sent() / kCommits;
}

TEST_CASE("messages per commit") {
  for (const int n : {2, 3, 5, 7}) {
    INFO(n << " replicas");
    const auto replicas = static_cast<std::uint64_t>(n);
    CHECK(messages_per_commit("1paxos", n, n) == replicas);
    CHECK(messages_per_commit("multipaxos", n, n) == 3 * (replicas - 1));
    CHECK(messages_per_commit("2pc", n, n) == 4 * (replicas - 1));
  }
}

TEST_CASE("one replica agrees with itself without a message") {
  for (const char* kind : {"1paxos", "multipaxos", "2pc"}) CHECK(messages_per_commit(kind, 1, 1) == 0);
}

TEST_CASE("learners cost a Learn each, and in 2PC as much as voters") {
  CHECK(messages_per_commit("1paxos", 24, 5) == 24);
  CHECK(messages_per_commit("1paxos", 24, 1) == 23);
  CHECK(messages_per_commit("multipaxos", 24, 5) == 2 * 4 + 23);
  CHECK(messages_per_commit("2pc", 24, 5) == 4 * 23);
}

TEST_CASE("reads that wait together share one probe") {
  Group group({.kind = "1paxos", .replicas = 3, .voters = 3});
  for (int reads = 0; reads < 50; ++reads) group.read(0);
  group.deliver_all();
  CHECK(group.messages_sent() == 4);  // the first read's probe, one for the other 49, and their answers
  Group everywhere({.kind = "2pc", .replicas = 3, .voters = 3});
  for (int reads = 0; reads < 50; ++reads) everywhere.read(reads % 3);
  CHECK(everywhere.messages_sent() == 0);
}

}  // namespace
}  // namespace ingot::testing
