// Whole groups with every agreement over every transport: all apply the same, and slow members do not delay the others.
#include <sys/prctl.h>

#include <catch2/catch.hpp>

#include "replication/replica/limits.h"
#include "replication/replica/snapshots/limits.h"
#include "replication/requests/limits.h"
#include "tests/replication/replica/group_load.h"
#include "tests/replication/replica/group_on_one_thread.h"
#include "transport/host/huge_pages.h"

namespace ingot {
namespace {

constexpr std::uint64_t kSeed = 20261120;

kv::Request put_request(const std::string& key, const std::string& value) {
  kv::PutRequest put;
  put.key = key;
  put.value = value;
  return put;
}

}  // namespace

TEST_CASE("every combination applies the submitted commands alike at all replicas") {
  const std::string agreement = GENERATE("1paxos", "multipaxos", "2pc");
  const std::string transport = GENERATE("nvp", "srbp");
  const int replicas = GENERATE(1, 2, 3, 5, 24);
  CAPTURE(agreement, transport, replicas, kSeed);
  GroupOnOneThread group(agreement, transport, replicas, kSeed);
  std::vector<std::shared_ptr<GroupOnOneThread::Answer>> answers;
  for (int i = 0; i < 200; ++i) {
    const std::string key = "key-" + std::to_string(i % 20);
    answers.push_back(group.submit(RequestKind::kCommand, put_request(key, std::to_string(i))));
    if (i % 7 == 0) group.round();
  }
  group.settle();
  for (const auto& answer : answers) {
    REQUIRE(answer->arrived);
    REQUIRE(answer->outcome == ReplicaReply::Outcome::kOk);
    REQUIRE(answer->result().code == kv::Code::kOk);
  }
  REQUIRE(group.get("key-19").revision == 201);
  REQUIRE(std::get<kv::RangeResult>(group.get("key-19").body).kvs.at(0).value == "199");
  require_equal_digests(group);
}

TEST_CASE("requests that arrive together are agreed on together") {
  const std::string agreement = GENERATE("1paxos", "multipaxos", "2pc");
  CAPTURE(agreement);
  GroupOnOneThread group(agreement, "nvp", 3, kSeed);
  for (int i = 0; i < 100; ++i) group.submit(RequestKind::kCommand, put_request("k", std::to_string(i)));
  group.settle();
  REQUIRE(group.applier(0).applied_commands() == 100);
  REQUIRE(group.applier(0).applied().value() < 30);
}

TEST_CASE("the largest requests pass, and small ones with them") {
  const std::string agreement = GENERATE("1paxos", "multipaxos", "2pc");
  const std::string transport = GENERATE("nvp", "srbp");
  CAPTURE(agreement, transport);
  GroupOnOneThread group(agreement, transport, 3, kSeed);
  const std::string large(kRequestBytesMax - 100, 'x');
  std::vector<std::shared_ptr<GroupOnOneThread::Answer>> answers;
  for (int i = 0; i < 12; ++i) {
    answers.push_back(group.submit(RequestKind::kCommand, put_request("large-" + std::to_string(i), large)));
    answers.push_back(group.submit(RequestKind::kCommand, put_request("small", "s")));
  }
  group.settle();
  for (const auto& answer : answers) REQUIRE(answer->result().code == kv::Code::kOk);
  REQUIRE(std::get<kv::RangeResult>(group.get("large-11").body).kvs.at(0).value == large);
  require_equal_digests(group);
}

// Only the first in the order of turns makes snapshots; another one makes them after the next death.
TEST_CASE("a process has huge pages from a large state on, though its replica makes no snapshots") {
  GroupOnOneThread group("1paxos", "nvp", 1, kSeed);
  const std::string value(1024 * 1024, 'v');
  const std::size_t puts = kHugePagesFromBytes / value.size();
  const auto forbidden = [] { return ::prctl(PR_GET_THP_DISABLE, 0UL, 0UL, 0UL, 0UL); };
  forbid_huge_pages();
  for (std::size_t i = 1; i < puts; ++i) group.put("k" + std::to_string(i), value);
  CHECK(forbidden() == 1);
  group.put("the last", value);
  CHECK(forbidden() == 0);
}

TEST_CASE("a learner that stops does not hold up the others, and catches up when it wakes") {
  const std::string agreement = GENERATE("1paxos", "multipaxos");
  const std::string transport = GENERATE("nvp", "srbp");
  CAPTURE(agreement, transport);
  GroupOnOneThread group(agreement, transport, 3, kSeed);
  group.put("a", "1");
  group.set_running(2, false);
  for (int i = 0; i < 3000; ++i) {
    group.submit(RequestKind::kCommand, put_request("k" + std::to_string(i % 50), std::string(200, 'v')));
    group.round();
  }
  group.settle();
  REQUIRE(group.applier(0).applied_commands() == 3001);
  REQUIRE(group.applier(2).applied_commands() < 3001);
  group.set_running(2, true);
  group.settle();
  require_equal_digests(group);
}

TEST_CASE("a learner whose backlog overflowed fetches what it missed") {
  GroupOnOneThread group("1paxos", "nvp", 3, kSeed);
  group.set_running(2, false);
  const std::string value(100 * 1024, 'v');
  int slots_bytes = 0;
  for (int i = 0; group.page(1)[ReplicaCounter::kBacklogDrops].get() == 0; ++i) {
    REQUIRE(slots_bytes < 3 * static_cast<int>(kBacklogBytesMax));
    group.submit(RequestKind::kCommand, put_request("k" + std::to_string(i % 4), value));
    group.settle();
    slots_bytes += static_cast<int>(value.size());
  }
  group.set_running(2, true);
  group.settle();
  require_equal_digests(group);
}

TEST_CASE("2PC waits for a stopped participant, names it in the status, and goes on when it wakes") {
  GroupOnOneThread group("2pc", "nvp", 3, kSeed);
  group.put("a", "1");
  group.set_running(2, false);
  const auto answer = group.submit(RequestKind::kCommand, put_request("a", "2"));
  for (int i = 0; i < 20'000; ++i) group.round();
  REQUIRE_FALSE(answer->arrived);
  REQUIRE(group.page(0)[ReplicaCounter::kBlocked].get() == 1);
  REQUIRE(group.page(0)[ReplicaCounter::kBlockedBy].get() == ReplicaSet::of(2).bits());
  group.set_running(2, true);
  group.settle();
  REQUIRE(answer->arrived);
  REQUIRE(group.page(0)[ReplicaCounter::kBlocked].get() == 0);
  require_equal_digests(group);
}

TEST_CASE("linearizable reads see every write that was answered before them") {
  const std::string agreement = GENERATE("1paxos", "multipaxos", "2pc");
  const std::string transport = GENERATE("nvp", "srbp");
  CAPTURE(agreement, transport);
  GroupOnOneThread group(agreement, transport, 3, kSeed);
  for (int i = 0; i < 300; ++i) {
    REQUIRE(group.put("x", std::to_string(i)).code == kv::Code::kOk);
    const kv::Result result = group.get("x");
    REQUIRE(std::get<kv::RangeResult>(result.body).kvs.at(0).value == std::to_string(i));
  }
}

TEST_CASE("a command that is repeated while it is in flight is proposed once") {
  GroupOnOneThread group("1paxos", "nvp", 2, kSeed);
  group.set_running(1, false);  // the acceptor, and no other can be: the client repeats its request
  const auto answer = group.submit(RequestKind::kCommand, put_request("once", "1"));
  for (int i = 0; i < 30; ++i) group.round(50'000'000);
  REQUIRE_FALSE(answer->arrived);
  group.set_running(1, true);
  group.settle();
  REQUIRE(answer->arrived);
  REQUIRE(group.applier(0).applied_commands() == 1);
  REQUIRE(group.applier(0).duplicate_commands() == 0);
  REQUIRE(std::get<kv::RangeResult>(group.get("once").body).kvs.at(0).version == 1);
  require_equal_digests(group);
}

TEST_CASE("a command that is repeated after it was decided takes effect once, and another replica answers") {
  const std::string agreement = GENERATE("1paxos", "multipaxos");
  CAPTURE(agreement);
  GroupOnOneThread group(agreement, "nvp", 3, kSeed, EndpointId(2));
  group.set_running(2, false);  // the responder, which cannot answer
  const auto answer = group.submit(RequestKind::kCommand, put_request("once", "1"));
  for (int i = 0; i < 30; ++i) group.round(50'000'000);
  REQUIRE(answer->arrived);
  REQUIRE(answer->result().revision == 2);
  REQUIRE(group.applier(0).duplicate_commands() > 0);
  group.set_running(2, true);
  group.settle();
  REQUIRE(std::get<kv::RangeResult>(group.get("once").body).kvs.at(0).version == 1);
  require_equal_digests(group);
}

TEST_CASE("the stable segment is trimmed while a voter is stopped") {
  GroupOnOneThread group("1paxos", "nvp", 3, kSeed);
  group.set_running(2, false);
  const std::string value(1024 * 1024, 'v');
  for (int i = 0; i < 200; ++i) {
    group.submit(RequestKind::kCommand, put_request("k", value));
    group.settle();
  }
  REQUIRE(group.applier(0).applied_commands() == 200);
}

}  // namespace ingot
