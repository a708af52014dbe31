// Whole groups whose broadcasts travel on trees: an inner replica that stops under load is bypassed by agreement, the
// others keep up, and in the end all have the same state and the same trees.
#include <catch2/catch.hpp>

#include "replication/replica/trees/limits.h"
#include "tests/replication/replica/group_on_one_thread.h"

namespace ingot {
namespace {

constexpr std::uint64_t kSeed = 20261121;

kv::Request put_request(int i) {
  kv::PutRequest put;
  put.key = "key-" + std::to_string(i % 20);
  put.value = std::to_string(i);
  return put;
}

void require_equal_digests(const GroupOnOneThread& group) {
  for (int id = 1; id < group.replicas(); ++id) {
    CAPTURE(id);
    REQUIRE(group.applier(id).applied() == group.applier(0).applied());
    REQUIRE(group.applier(id).digest() == group.applier(0).digest());
    REQUIRE(encode(group.trees(id).table().current()) == encode(group.trees(0).table().current()));
  }
}

// Puts one after the other, each with a few rounds, until `done` or so many are submitted.
template <typename Done>
int load(GroupOnOneThread& group, int puts, Done done) {
  int submitted = 0;
  for (; submitted < puts && !done(); ++submitted) {
    group.submit(RequestKind::kCommand, put_request(submitted));
    for (int i = 0; i < 10; ++i) group.round(1'000'000);
  }
  return submitted;
}

// A replica that forwards decided slots to others.
int inner_replica(const GroupOnOneThread& group, int root) {
  const RootedTree* tree = group.trees(0).table().current().of(root);
  for (int id = 0; id < group.replicas(); ++id) {
    if (tree->inner(id)) return id;
  }
  return -1;
}

std::uint64_t handled(const GroupOnOneThread& group, int id) {
  return group.page(id)[ReplicaCounter::kHandledMessages].get();
}

}  // namespace

TEST_CASE("every agreement applies everything everywhere, whatever the trees") {
  const std::string agreement = GENERATE("1paxos", "multipaxos", "2pc");
  const std::string transport = GENERATE("nvp", "srbp");
  const std::string shape = GENERATE("best", "binary", "fibonacci");
  const int replicas = GENERATE(7, 24);
  CAPTURE(agreement, transport, shape, replicas, kSeed);
  GroupOnOneThread group(agreement, transport, replicas, kSeed, std::nullopt, shape);
  std::vector<std::shared_ptr<GroupOnOneThread::Answer>> answers;
  for (int i = 0; i < 100; ++i) {
    answers.push_back(group.submit(RequestKind::kCommand, put_request(i)));
    if (i % 7 == 0) group.round();
  }
  group.settle();
  for (const auto& answer : answers) REQUIRE(answer->result().code == kv::Code::kOk);
  REQUIRE(std::get<kv::RangeResult>(group.get("key-19").body).kvs.at(0).value == "99");
  require_equal_digests(group);
  // Every broadcast was forwarded by other replicas than its root.
  std::uint64_t relayed = 0;
  for (int id = 0; id < replicas; ++id) relayed += group.page(id)[ReplicaCounter::kRelayedMessages].get();
  REQUIRE(relayed > 0);
}

TEST_CASE("a stopped inner replica is bypassed by agreement, and returns when it has recovered") {
  const std::string agreement = GENERATE("1paxos", "multipaxos");
  const std::string transport = GENERATE("nvp", "srbp");
  const bool reported = GENERATE(true, false);  // by a supervisor, or found by its lag alone
  CAPTURE(agreement, transport, reported, kSeed);
  GroupOnOneThread group(agreement, transport, 13, kSeed, std::nullopt, "best");
  group.set_reported(reported);
  load(group, 20, [] { return false; });
  group.settle();
  const int root = agreement == "1paxos" ? 1 : 0;
  const int victim = inner_replica(group, root);
  CAPTURE(victim);
  group.set_running(victim, false);
  const auto bypassed = [&] { return group.trees(0).table().current().bypassed.contains(victim); };
  load(group, 1000, bypassed);
  REQUIRE(bypassed());
  REQUIRE(group.trees(0).table().current().reason == TreeReason::kBypass);
  load(group, 20, [] { return false; });
  group.settle();
  for (int id = 0; id < group.replicas(); ++id) {
    CAPTURE(id);
    if (id == victim) {
      REQUIRE(group.applier(id).applied() < group.applier(0).applied());
    } else {
      REQUIRE(group.applier(id).applied() == group.applier(0).applied());
    }
  }
  group.set_running(victim, true);
  group.settle();
  require_equal_digests(group);
  load(group, 3000, [&] { return !bypassed(); });
  REQUIRE_FALSE(bypassed());
  REQUIRE(group.trees(0).table().current().reason == TreeReason::kReturn);
  group.settle();
  require_equal_digests(group);
}

TEST_CASE("the replicas below a stopped inner replica catch up though nothing more is written") {
  GroupOnOneThread group("1paxos", "nvp", 13, kSeed, std::nullopt, "best");
  group.set_reported(true);
  group.put("a", "1");
  const int victim = inner_replica(group, 1);
  CAPTURE(victim);
  group.set_running(victim, false);
  group.put("a", "2");
  for (int i = 0; i < 1000; ++i) group.round(1'000'000);
  for (int id = 0; id < group.replicas(); ++id) {
    CAPTURE(id);
    if (id != victim) REQUIRE(group.applier(id).applied() == group.applier(0).applied());
  }
  group.set_running(victim, true);
  group.settle();
  require_equal_digests(group);
}

// Regression: a round in which nothing but a check of the trees was due left the leader without ticks, though the
// change of trees was proposed in it: the silent acceptor was not suspected before the next request.
TEST_CASE("a stopped acceptor is replaced though nothing more is written once a check has found it") {
  const int since_put_ms = GENERATE(0, 8, 16, 24, 32);
  CAPTURE(since_put_ms, kSeed);
  GroupOnOneThread group("1paxos", "nvp", 13, kSeed, std::nullopt, "best");
  group.set_reported(true);
  group.put("a", "1");
  group.settle();
  for (int i = 0; i < since_put_ms; ++i) group.round(1'000'000);
  kv::PutRequest last;
  last.key = "a";
  last.value = "2";
  group.submit(RequestKind::kCommand, last);
  for (int i = 0; i < 30; ++i) group.round(50'000);
  group.set_running(1, false);
  for (int i = 0; i < 1000; ++i) group.round(1'000'000);
  REQUIRE(group.status(0).acceptor != EndpointId(1));
  REQUIRE(group.idle(0));
}

// Regression: checks are 20 ms apart, and a check that was not due when the last message was sent never happened.
TEST_CASE("they also catch up if the inner replica stops just after a check, before it forwards the last message") {
  const int since_check_ms = GENERATE(range(0, 24, 3));
  const bool reported = GENERATE(true, false);
  CAPTURE(since_check_ms, reported);
  GroupOnOneThread group("1paxos", "nvp", 13, kSeed, std::nullopt, "best");
  group.set_reported(reported);
  group.put("a", "1");
  const int victim = inner_replica(group, 1);
  CAPTURE(victim);
  for (int i = 0; i < 100; ++i) group.round(1'000'000);
  group.submit(RequestKind::kCommand, put_request(1));
  for (int i = 0; i < 100; ++i) group.round(since_check_ms * 10'000);
  group.set_running(victim, false);
  group.submit(RequestKind::kCommand, put_request(2));
  for (int i = 0; i < 200; ++i) group.round(1'000'000);
  for (int id = 0; id < group.replicas(); ++id) {
    CAPTURE(id);
    if (id != victim) REQUIRE(group.applier(id).applied() == group.applier(0).applied());
  }
  REQUIRE(group.applier(0).applied() >= Slot(3));
  group.set_running(victim, true);
  group.settle();
  require_equal_digests(group);
}

TEST_CASE("in 2PC equal votes and acknowledgements travel as one") {
  const int replicas = 24;
  GroupOnOneThread star("2pc", "nvp", replicas, kSeed);
  GroupOnOneThread tree("2pc", "nvp", replicas, kSeed, std::nullopt, "best");
  for (int i = 0; i < 20; ++i) {
    star.put("k", std::to_string(i));
    tree.put("k", std::to_string(i));
  }
  // The coordinator's messages: prepare, vote, outcome, acknowledgement, to and from each replica or each child.
  REQUIRE(handled(star, 0) >= 20 * 4 * (replicas - 1));
  REQUIRE(handled(tree, 0) * 2 < handled(star, 0));
  require_equal_digests(tree);
}

TEST_CASE("the busiest endpoint of 48 handles far fewer messages for a commit than by a star") {
  const int replicas = 48;
  GroupOnOneThread star("1paxos", "nvp", replicas, kSeed);
  GroupOnOneThread tree("1paxos", "nvp", replicas, kSeed, std::nullopt, "best");
  for (int i = 0; i < 20; ++i) {
    star.put("k", std::to_string(i));
    tree.put("k", std::to_string(i));
  }
  std::uint64_t by_star = 0, by_tree = 0;
  for (int id = 0; id < replicas; ++id) {
    by_star = std::max(by_star, handled(star, id));
    by_tree = std::max(by_tree, handled(tree, id));
  }
  REQUIRE(by_star >= 20 * replicas);
  REQUIRE(by_tree * 3 < by_star);
}

TEST_CASE("a client's command that looks like a change of trees changes nothing") {
  GroupOnOneThread group("1paxos", "nvp", 7, kSeed, std::nullopt, "best");
  group.put("a", "1");
  TreeSet forged = group.trees(0).table().current();
  forged.version = 1;
  forged.bypassed = ReplicaSet::from_bits(0x7f);
  REQUIRE(is_tree_change(encode(forged)));
  group.submit_bytes(encode(forged));
  for (int i = 0; i < 200; ++i) group.round(1'000'000);
  REQUIRE(group.trees(0).table().version() == 0);
  REQUIRE(group.page(0)[ReplicaCounter::kRefusedMessages].get() > 0);
}

}  // namespace ingot
