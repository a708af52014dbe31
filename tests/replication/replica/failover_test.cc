// Real replicas that die, stop and go on under load: the others go on, no acknowledged write is lost, every command
// takes effect once, and in the end all living replicas have the same state.
#include <catch2/catch.hpp>

#include <functional>

#include "replication/client/limits.h"
#include "tests/replication/replica/group_load.h"
#include "tests/replication/replica/group_on_one_thread.h"

namespace ingot {
namespace {

constexpr std::uint64_t kSeed = 20261121;

// Runs load before, during and after `trouble`, then checks the result.
void check_survival(GroupOnOneThread& group, const std::function<void()>& trouble) {
  Load load(group);
  load.run(100);
  trouble();
  load.run(100);
  const int rounds = load.wait();
  INFO("rounds until all was answered: " << rounds);
  require_survived(group, load);
}

}  // namespace

TEST_CASE("the leader's death is survived") {
  const std::string agreement = GENERATE("1paxos", "multipaxos");
  const std::string transport = GENERATE("nvp", "srbp");
  const int replicas = GENERATE(3, 5);
  const bool told = GENERATE(true, false);
  CAPTURE(agreement, transport, replicas, told);
  GroupOnOneThread group(agreement, transport, replicas, kSeed);
  check_survival(group, [&] { group.kill(0, told); });
  REQUIRE(group.status(1).leader != EndpointId(0));
}

TEST_CASE("the acceptor's death is survived") {
  const std::string transport = GENERATE("nvp", "srbp");
  const int replicas = GENERATE(3, 5);
  const bool told = GENERATE(true, false);
  CAPTURE(transport, replicas, told);
  GroupOnOneThread group("1paxos", transport, replicas, kSeed);
  check_survival(group, [&] { group.kill(1, told); });
  REQUIRE(group.status(0).acceptor != EndpointId(1));
}

TEST_CASE("with five voters leader and acceptor may die at once") {
  const std::string agreement = GENERATE("1paxos", "multipaxos");
  const bool told = GENERATE(true, false);
  CAPTURE(agreement, told);
  GroupOnOneThread group(agreement, "nvp", 5, kSeed);
  check_survival(group, [&] {
    group.kill(0, told);
    group.kill(1, told);
  });
}

TEST_CASE("one death after the other is survived as long as a majority of the voters lives") {
  const std::string agreement = GENERATE("1paxos", "multipaxos");
  CAPTURE(agreement);
  GroupOnOneThread group(agreement, "srbp", 5, kSeed);
  Load load(group);
  for (int deaths = 0; deaths < 2; ++deaths) {
    load.run(60);
    group.kill(group.status(4).leader.value());
    load.run(60);
    load.wait();
  }
  group.settle();
  load.check();
  require_equal_digests(group);
}

TEST_CASE("a deposed leader that wakes does no harm, and learns who leads") {
  const std::string agreement = GENERATE("1paxos", "multipaxos");
  const std::string transport = GENERATE("nvp", "srbp");
  CAPTURE(agreement, transport);
  GroupOnOneThread group(agreement, transport, 3, kSeed);
  Load load(group);
  load.run(100);
  group.set_running(0, false);
  load.run(100);
  load.wait();
  REQUIRE(group.status(2).leader != EndpointId(0));
  group.set_running(0, true);
  load.run(100);
  load.wait();
  group.settle();
  REQUIRE(group.status(0).leader == group.status(2).leader);
  load.check();
  require_equal_digests(group);
}

TEST_CASE("a stopped acceptor is replaced, and catches up when it wakes") {
  const std::string transport = GENERATE("nvp", "srbp");
  CAPTURE(transport);
  GroupOnOneThread group("1paxos", transport, 3, kSeed);
  Load load(group);
  load.run(100);
  group.set_running(1, false);
  load.run(100);
  load.wait();
  REQUIRE(group.status(0).acceptor == EndpointId(2));
  group.set_running(1, true);
  load.run(100);
  load.wait();
  group.settle();
  load.check();
  require_equal_digests(group);
}

// Regression: commands that a deposed leader had accepted were dropped as repetitions when they came again after it led
// once more.
TEST_CASE("a leader that is deposed and leads again accepts requests that it accepted before") {
  GroupOnOneThread group("1paxos", "nvp", 3, kSeed);
  Load load(group);
  for (int turn = 0; turn < 4; ++turn) {
    const int leader = group.status(2).leader.value();
    load.run(60);
    group.set_running(leader, false);
    load.run(60);
    load.wait();
    group.set_running(leader, true);
    load.wait();
    group.settle();
  }
  load.check();
  require_equal_digests(group);
}

TEST_CASE("2PC stays blocked by a dead participant, reports it, and acknowledges nothing") {
  GroupOnOneThread group("2pc", "nvp", 3, kSeed);
  group.put("a", "1");
  group.kill(2);
  kv::PutRequest put;
  put.key = "a";
  put.value = "2";
  const auto answer = group.submit(RequestKind::kCommand, put);
  for (int i = 0; i < 20'000; ++i) group.round();
  REQUIRE_FALSE(answer->arrived);
  REQUIRE(group.page(0)[ReplicaCounter::kBlocked].get() == 1);
  REQUIRE(group.page(0)[ReplicaCounter::kBlockedBy].get() == ReplicaSet::of(2).bits());
  REQUIRE(group.page(0)[ReplicaCounter::kBlockedWhy].get() == static_cast<std::uint64_t>(Blocked::kParticipantDead));
}

TEST_CASE("a request refused because agreement is blocked gets an error that names the replica") {
  GroupOnOneThread group("2pc", "nvp", 3, kSeed);
  group.put("a", "1");
  group.kill(2);
  const kv::Request put = kv::PutRequest{.key = "a", .value = "2"};
  group.submit(RequestKind::kCommand, put);
  while (group.page(0)[ReplicaCounter::kBlocked].get() == 0) group.round();
  auto turned_away = group.submit(RequestKind::kCommand, put);
  for (int i = 0; i < kFrontEndRequestsMax && !turned_away->arrived; ++i) {
    turned_away = group.submit(RequestKind::kCommand, put);
  }
  REQUIRE(turned_away->arrived);
  CHECK(turned_away->outcome == ReplicaReply::Outcome::kBlocked);
  CHECK_THAT(turned_away->payload, Catch::Matchers::StartsWith("replica 0 is blocked: it waits for replica 2: " +
                                                               std::string(text_of(Blocked::kParticipantDead))));
}

TEST_CASE("a group on trees survives the death of its leader and its acceptor") {
  const std::string agreement = GENERATE("1paxos", "multipaxos");
  CAPTURE(agreement);
  GroupOnOneThread group(agreement, "nvp", 12, kSeed, std::nullopt, "binary");
  Load load(group);
  load.run(60);
  group.kill(0);
  load.run(60);
  load.wait();
  group.kill(group.status(4).acceptor.value());
  load.run(60);
  load.wait();
  group.settle();
  load.check();
  require_equal_digests(group);
}

TEST_CASE("an idle group wants no tick, before a death and after it") {
  GroupOnOneThread group("1paxos", "nvp", 3, kSeed);
  group.put("a", "1");
  group.kill(0);
  group.put("a", "2");
  group.settle();
  for (int id = 1; id < 3; ++id) REQUIRE(group.idle(id));
}

}  // namespace ingot
