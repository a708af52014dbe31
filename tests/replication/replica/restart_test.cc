// Real replicas that die and restart as new incarnations, under load: no acknowledged write is lost, every command
// takes effect once, and in the end all have the same state, the joining replicas too.
#include <catch2/catch.hpp>

#include "core/limits.h"
#include "core/prng.h"
#include "tests/replication/replica/group_load.h"
#include "tests/replication/replica/group_on_one_thread.h"
#include "tests/seeds.h"

namespace ingot {
namespace {

constexpr std::uint64_t kSeed = 20261122;
constexpr std::uint64_t kSlowStepNs = 2'000'000;  // so that many checks of the trees take few rounds

}  // namespace

TEST_CASE("a killed replica restarts under load and catches up") {
  const std::string agreement = GENERATE("1paxos", "multipaxos");
  const std::string transport = GENERATE("nvp", "srbp");
  const int victim = GENERATE(0, 1, 2);
  CAPTURE(agreement, transport, victim);
  GroupOnOneThread group(agreement, transport, 3, kSeed);
  Load load(group);
  load.run(100);
  group.kill(victim);
  load.run(40);
  group.restart(victim);
  load.run(40);
  require_survived(group, load);
  REQUIRE(group.incarnation(victim) == 2);
}

TEST_CASE("the leader dies twenty times, each time under load, and restarts") {
  const std::string agreement = GENERATE("1paxos", "multipaxos");
  const std::string transport = GENERATE("nvp", "srbp");
  const bool told = GENERATE(true, false);
  CAPTURE(agreement, transport, told);
  GroupOnOneThread group(agreement, transport, 3, kSeed);
  Load load(group);
  for (int deaths = 0; deaths < 20; ++deaths) {
    load.run(20);
    const int leader = group.status(deaths % 3).leader.value();
    group.kill(leader, told);
    load.run(10);
    group.restart(leader);
    load.wait();
  }
  require_survived(group, load);
}

TEST_CASE("leader and acceptor of three die at once: blocked until one of them restarts, and nothing is lost") {
  const std::string transport = GENERATE("nvp", "srbp");
  const int first = GENERATE(0, 1);
  CAPTURE(transport, first);
  GroupOnOneThread group("1paxos", transport, 3, kSeed);
  Load load(group);
  load.run(100);
  group.kill(0);
  group.kill(1);
  load.run(30);
  group.restart(first);
  load.run(30);
  load.wait();
  group.restart(1 - first);
  require_survived(group, load);
}

TEST_CASE("a replica that was stopped while others died and restarted, several times, does no harm when it goes on") {
  const std::string transport = GENERATE("nvp", "srbp");
  CAPTURE(transport);
  GroupOnOneThread group("1paxos", transport, 5, kSeed);
  Load load(group);
  load.run(60);
  group.set_running(4, false);
  load.run(60);
  for (const int victim : {0, 1, 0, 2, 0}) {
    group.kill(victim);
    load.run(20);
    group.restart(victim);
    load.run(20);
    load.wait();
  }
  group.set_running(4, true);
  require_survived(group, load);
}

TEST_CASE("a joining replica that dies before it has caught up, or before its peers know of it, is restarted, too") {
  const std::string transport = GENERATE("nvp", "srbp");
  const int rounds = GENERATE(0, 1, 2, 5, 20);
  CAPTURE(transport, rounds);
  GroupOnOneThread group("1paxos", transport, 3, kSeed);
  Load load(group);
  load.run(100);
  for (int incarnations = 0; incarnations < 8; ++incarnations) {
    group.kill(1);
    group.restart(1);
    for (int i = 0; i < rounds; ++i) group.round();
  }
  require_survived(group, load);
  REQUIRE(group.incarnation(1) == 9);
}

TEST_CASE("random deaths and restarts, of a minority or more, lose nothing") {
  const std::string agreement = GENERATE("1paxos", "multipaxos");
  const std::string transport = GENERATE("nvp", "srbp");
  const int replicas = GENERATE(3, 5);
  const std::uint64_t seed = GENERATE(from_range(testing::seeds(4)));
  CAPTURE(agreement, transport, replicas, seed);
  GroupOnOneThread group(agreement, transport, replicas, seed);
  Prng prng(seed);
  Load load(group);
  for (int step = 0; step < 30; ++step) {
    load.run(static_cast<int>(prng.below(10)));
    const int who = static_cast<int>(prng.below(static_cast<std::uint64_t>(replicas)));
    int living = 0;
    for (int id = 0; id < replicas; ++id) living += group.alive(id) ? 1 : 0;
    if (!group.alive(who)) {
      group.restart(who);
    } else if (living > 1) {
      group.kill(who, prng.below(2) == 0);
    }
  }
  for (int id = 0; id < replicas; ++id) {
    if (!group.alive(id)) group.restart(id);
  }
  require_survived(group, load);
}

TEST_CASE("an idle group takes restarted replicas back, and is idle again") {
  GroupOnOneThread group("1paxos", "nvp", 3, kSeed);
  group.put("a", "1");
  group.kill(0);
  group.settle();
  group.restart(0);
  group.settle();
  require_equal_digests(group);
  for (int id = 0; id < 3; ++id) REQUIRE(group.idle(id));
  group.put("a", "2");
  require_equal_digests(group);
}

TEST_CASE("a replica that restarts in a group on trees catches up, and no other waits for it") {
  const std::string agreement = GENERATE("1paxos", "multipaxos");
  const int victim = GENERATE(0, 1, 2, 5);
  CAPTURE(agreement, victim);
  GroupOnOneThread group(agreement, "nvp", 12, kSeed, std::nullopt, "binary");
  Load load(group);
  load.run(60);
  group.kill(victim);
  load.run(30);
  group.restart(victim);
  load.run(60);
  require_survived(group, load);
}

TEST_CASE("an inner endpoint of the tree that died and restarted forwards broadcasts again") {
  GroupOnOneThread group("1paxos", "nvp", 12, kSeed, std::nullopt, "binary");
  Load load(group);
  load.run(60);
  const EndpointId acceptor = group.status(0).acceptor;
  int victim = kVotersDefault;
  while (!group.trees(0).depends_on(acceptor, EndpointId(static_cast<std::uint16_t>(victim)))) ++victim;
  const auto bypassed = [&] { return group.trees(0).table().current().bypassed; };
  group.kill(victim);
  load.run(100, kSlowStepNs);
  REQUIRE(bypassed() == ReplicaSet::of(victim));
  group.restart(victim);
  load.run(600, kSlowStepNs);
  REQUIRE(bypassed().empty());
  require_survived(group, load);
}

}  // namespace ingot
