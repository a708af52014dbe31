// Real replicas and a real session that the kernel tells of stops: roles move without silence, and with no more harm
// than silence does. Time is virtual, so that what silence alone would take is known exactly.
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "replication/agreement/limits.h"
#include "replication/client/limits.h"
#include "replication/pages/limits.h"
#include "tests/replication/replica/group_load.h"
#include "tests/replication/replica/group_on_one_thread.h"

namespace ingot {
namespace {

constexpr std::uint64_t kSeed = 20261123;
constexpr std::uint64_t kStepNs = 100'000;
constexpr std::uint64_t kNsPerMs = 1'000'000;
// A session reports a silent leader after this long; a replica waits longer, for suspect_ticks.
constexpr std::uint64_t kSilenceNs = SessionBounds().suspect_ms * kNsPerMs;
static_assert(kSilenceNs < std::uint64_t{kSuspectTicks} * kTickMs * kNsPerMs);

std::shared_ptr<GroupOnOneThread::Answer> submit_put(GroupOnOneThread& group) {
  kv::PutRequest put;
  put.key = "a";
  put.value = "b";
  return group.submit(RequestKind::kCommand, put);
}

// In virtual time.
std::uint64_t ns_until(GroupOnOneThread& group, const GroupOnOneThread::Answer& answer) {
  std::uint64_t ns = 0;
  for (; !answer.arrived; ns += kStepNs) {
    REQUIRE(ns < 1000 * kNsPerMs);
    group.round(kStepNs);
  }
  return ns;
}

}  // namespace

TEST_CASE("a stopped leader or acceptor that the kernel reports is replaced sooner than silence is noticed") {
  const std::string agreement = GENERATE("1paxos", "multipaxos");
  const std::string transport = GENERATE("nvp", "srbp");
  const int replicas = GENERATE(3, 5);
  const int victim = GENERATE(0, 1);
  CAPTURE(agreement, transport, replicas, victim);
  GroupOnOneThread group(agreement, transport, replicas, kSeed);
  Load load(group);
  load.run(100);
  const auto in_flight = submit_put(group);  // the victim may have it, and answer it or not
  if (GENERATE(true, false)) group.round(kStepNs);
  group.report_stop(victim);
  CHECK(ns_until(group, *in_flight) < kSilenceNs);
  CHECK(ns_until(group, *submit_put(group)) < kSilenceNs);
  const AgreementStatus status = group.status(2);
  CHECK(status.leader != EndpointId(static_cast<std::uint16_t>(victim)));
  CHECK(status.acceptor != EndpointId(static_cast<std::uint16_t>(victim)));
  for (int id = 0; id < replicas; ++id) {
    if (id != victim) CHECK(group.page(id)[ReplicaCounter::kDoubts].get() == 1);
    CHECK(group.page(id)[ReplicaCounter::kSuspicions].get() == 0);
  }
  load.run(50);
  group.report_continued(victim);
  load.run(50);
  load.wait();
  group.settle();
  load.check();
  require_equal_digests(group);
}

TEST_CASE("an idle group replaces a stopped leader and acceptor, and comes to rest") {
  const int victim = GENERATE(0, 1);
  GroupOnOneThread group("1paxos", "nvp", 3, kSeed);
  group.put("a", "1");
  group.report_stop(victim);
  group.settle();
  CHECK(group.status(2).leader == EndpointId(victim == 0 ? 2 : 0));
  CHECK(group.status(2).acceptor == EndpointId(victim == 0 ? 1 : 2));
  for (int id = 0; id < 3; ++id) CHECK((id == victim || group.idle(id)));
}

// The next suspicion comes as early as in a group where nothing has happened: from replica 3, which saw the role move.
// Replica 0 does not know why it has lost its role.
TEST_CASE("a role that moves since the kernel reported a stop does not make the group slower to suspect") {
  std::uint64_t ns[2];
  for (const bool before : {false, true}) {
    GroupOnOneThread group("1paxos", "nvp", 4, kSeed);
    group.put("a", "1");
    if (before) {
      group.report_stop(0);  // leader 2, acceptor 1
      group.put("a", "2");
      group.report_continued(0);
      group.settle();
      REQUIRE(group.status(0).leader == EndpointId(2));
    }
    group.set_running(before ? 2 : 0, false);
    ns[before] = ns_until(group, *submit_put(group));
  }
  CHECK(ns[true] >= kSilenceNs);
  CHECK(ns[true] < ns[false] + 20 * kNsPerMs);
}

// Told wrongly: it goes on, and its messages say so.
TEST_CASE("a replica that is doubted and runs loses its role at most, and no write") {
  const std::string agreement = GENERATE("1paxos", "multipaxos", "2pc");
  const int victim = GENERATE(0, 1, 2);
  CAPTURE(agreement, victim);
  GroupOnOneThread group(agreement, "nvp", 3, kSeed);
  Load load(group);
  load.run(60);
  group.report_stop(victim);
  group.set_running(victim, true);  // the supervisor does not say so
  load.run(60);
  load.wait();
  CHECK(group.page(victim)[ReplicaCounter::kDoubts].get() == 0);  // of itself it is not told
  group.report_continued(victim);
  load.run(60);
  load.wait();
  group.settle();
  load.check();
  require_equal_digests(group);
}

// The supervisor does not say that they went on: it is stopped itself, or late. Each role may move once, to a replica
// that is not doubted; then none moves for as long as the doubts are told.
TEST_CASE("two replicas that were stopped and went on together do not take roles from each other") {
  const std::string agreement = GENERATE("1paxos", "multipaxos");
  const int first = GENERATE(0, 1);
  const int second = GENERATE(1, 2);
  if (first == second) return;
  CAPTURE(agreement, first, second);
  GroupOnOneThread group(agreement, "nvp", 3, kSeed);
  Load load(group);
  load.run(60);
  for (const int victim : {first, second}) group.report_stop(victim);
  for (const int victim : {first, second}) group.set_running(victim, true);
  load.run(60);
  for (std::uint64_t ns = 0; ns < kDoubtRepeatNs; ns += kStepNs) group.round(kStepNs);
  load.wait();
  for (int id = 0; id < 3; ++id) CHECK(group.status(id).ballot.value() <= 3);
  for (const int victim : {first, second}) {
    CHECK(group.page(victim)[ReplicaCounter::kDoubts].get() == 0);
    group.report_continued(victim);
  }
  group.settle();
  load.check();
  require_equal_digests(group);
}

TEST_CASE("2PC waits for a stopped replica, whichever process reports it") {
  const int victim = GENERATE(0, 1, 2);
  GroupOnOneThread group("2pc", "nvp", 3, kSeed);
  group.put("a", "1");
  const auto answer = submit_put(group);
  group.report_stop(victim);
  for (int i = 0; i < 5000; ++i) group.round(kStepNs);
  CHECK_FALSE(answer->arrived);
  group.report_continued(victim);
  group.settle();
  CHECK(answer->arrived);
}

}  // namespace ingot
