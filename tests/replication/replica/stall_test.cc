// A group that cannot decide says so: when, for which cause, once in the log, and which replica says it.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "replication/replica/limits.h"
#include "replication/replica/stall_watch.h"
#include "replication/store/api.h"
#include "tests/replication/replica/cores_on_one_thread.h"

namespace ingot {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

AgreementStatus waiting(Blocked why, ReplicaSet by = {}) {
  AgreementStatus status;
  status.why = why;
  status.blocked_by = by;
  return status;
}

TEST_CASE("a wait counts as blocked once it has lasted, whatever its cause was meanwhile") {
  StallWatch watch(1000 * kMs);
  AgreementStatus status = waiting(Blocked::kLeaderSilent);
  watch.observe(status, 7, 10 * kMs);
  CHECK((!status.blocked && watch.pending()));
  status = waiting(Blocked::kNoMajority);
  watch.observe(status, 7, 1009 * kMs);
  CHECK((!status.blocked && watch.pending() && watch.blocked_since_ns() == 0));
  watch.observe(status, 7, 1010 * kMs);
  CHECK((status.blocked && status.why == Blocked::kNoMajority && status.blocked_ms == 1000));
  CHECK((!watch.pending() && watch.blocked_since_ns() == 10 * kMs));
  status = waiting(Blocked::kNo);
  watch.observe(status, 7, 1020 * kMs);
  CHECK((!status.blocked && !watch.pending()));
}

TEST_CASE("every decision begins another wait") {
  StallWatch watch(1000 * kMs);
  for (std::uint64_t decided = 1; decided < 10; ++decided) {
    AgreementStatus status = waiting(Blocked::kAcceptor);
    watch.observe(status, decided, decided * 900 * kMs);
    CHECK(!status.blocked);
  }
}

// Regressions: simulator seed 2613918280, with 6 replicas: after the death of all, a new leader gathered what it lacked
// piece by piece. And seed 1804343618, Multi-Paxos with 5 replicas: a candidate that waited for a majority installed a
// snapshot, and later learned one more slot. Each piece counted as progress, and nothing said why clients waited.
TEST_CASE("a leader or a candidate that catches up for long says so") {
  const Blocked why = GENERATE(Blocked::kCatchingUp, Blocked::kNoMajority, Blocked::kLoading);
  StallWatch watch(1000 * kMs);
  for (std::uint64_t decided = 1; decided < 10; ++decided) {
    AgreementStatus status = waiting(why);
    watch.observe(status, decided, decided * 200 * kMs);
    CHECK(status.blocked == (decided >= 6));
  }
}

// Regression: simulator seed 42146558, Multi-Paxos with 5 replicas, of which two were stopped and one got its messages
// late: a new leader proposed again, one by one, what its predecessor had decided. Each slot counted as progress.
TEST_CASE("a new leader that proposes again for long says what it waits for") {
  StallWatch watch(1000 * kMs);
  for (std::uint64_t decided = 1; decided < 10; ++decided) {
    AgreementStatus status = waiting(Blocked::kVoters, ReplicaSet::of(2));
    status.taking_over = true;
    watch.observe(status, decided, decided * 200 * kMs);
    CHECK(status.blocked == (decided >= 6));
  }
  AgreementStatus leads = waiting(Blocked::kVoters, ReplicaSet::of(2));
  watch.observe(leads, 10, 2000 * kMs);
  CHECK(!leads.blocked);
}

TEST_CASE("another cause is shown once it has lasted, or if waiting cannot help") {
  StallWatch watch(1000 * kMs);
  const auto shown = [&](AgreementStatus status, std::uint64_t at_ms) {
    watch.observe(status, 7, at_ms * kMs);
    return status.why;
  };
  shown(waiting(Blocked::kLeaderSilent), 0);
  for (std::uint64_t ms = 1000; ms < 5000; ms += 200) {
    CHECK(shown(waiting(Blocked::kNoMajority), ms) == Blocked::kNoMajority);
    CHECK(shown(waiting(Blocked::kLeaderSilent), ms + 100) == Blocked::kNoMajority);
  }
  shown(waiting(Blocked::kVoters), 5000);
  CHECK(shown(waiting(Blocked::kVoters), 5999) == Blocked::kNoMajority);
  CHECK(shown(waiting(Blocked::kVoters), 6000) == Blocked::kVoters);
  AgreementStatus hopeless = waiting(Blocked::kParticipantDead);
  hopeless.blocked = true;
  CHECK(shown(hopeless, 6001) == Blocked::kParticipantDead);
}

// Three replicas of which some run. A client asks those in turn, as a session does if the leader is silent.
struct Survivors {
  Survivors(const std::string& agreement, std::vector<int> running)
      : group(agreement, 3), survivors(std::move(running)) {}

  // Rounds take a millisecond each.
  void run(int ms, bool client_asks = true) {
    for (int i = 0; i < ms; ++i) {
      const int replica = survivors[static_cast<std::size_t>(i) % survivors.size()];
      if (client_asks && i % 20 == 0) ask(replica);
      std::vector<Action::Kind> trace;
      group.round(replica, &trace);
      for (const Action::Kind kind : trace) lines += kind == Action::Kind::kLog ? 1 : 0;
    }
  }
  void ask(int replica) {
    kv::PutRequest put;
    kv::RangeRequest range;
    put.key = range.key = "k";
    const std::string bytes = reads ? kv::encode(kv::Request(range)) : kv::encode(kv::Request(put));
    Request request;
    if (reads) request.kind = RequestKind::kLinearizableQuery;
    request.client = 7;
    request.sequence = 1;
    request.acknowledged_below = 1;
    request.reply_to = group.client();
    request.responder = EndpointId(static_cast<std::uint16_t>(replica));
    request.payload = bytes;
    group.request(replica, request);
  }

  CoresOnOneThread group;
  std::vector<int> survivors;
  bool reads = false;  // the client reads
  int lines = 0;
};

struct Case {
  const char* agreement;
  int survivor;
  Blocked why;
  std::uint64_t by;  // bits
};

// Regression: with two of three stopped, nothing said that the group is blocked.
TEST_CASE("one replica of three runs, whichever it is, and it says why nothing is decided") {
  const Case each = GENERATE(values<Case>({
      {"1paxos", 0, Blocked::kNoMajority, 0b110},
      {"1paxos", 1, Blocked::kLeaderSilent, 0b001},
      {"1paxos", 2, Blocked::kNoMajority, 0b011},
      {"multipaxos", 0, Blocked::kVoters, 0b110},
      {"multipaxos", 1, Blocked::kNoMajority, 0b101},
      {"multipaxos", 2, Blocked::kNoMajority, 0b011},
      {"2pc", 0, Blocked::kParticipant, 0b110},
      {"2pc", 1, Blocked::kCoordinator, 0b001},
      {"2pc", 2, Blocked::kCoordinator, 0b001},
  }));
  CAPTURE(each.agreement, each.survivor);
  Survivors alone(each.agreement, {each.survivor});
  alone.run(3 * kBlockedAfterMs);
  const AgreementStatus& status = alone.group.core(each.survivor).status();
  CHECK(status.blocked);
  CHECK(status.why == each.why);
  CHECK(status.blocked_by == ReplicaSet::from_bits(each.by));
  CHECK(alone.lines <= 3);  // suspicions, and that it is blocked; not one for each tick
  CHECK(alone.lines >= 1);

  // All of them run again: one line says that it is over, and the command is decided.
  alone.survivors = {0, 1, 2};
  alone.run(9 * kBlockedAfterMs);
  CHECK(!alone.group.core(each.survivor).status().blocked);
  CHECK(alone.group.core(each.survivor).applier().applied() > Slot(0));
}

// Regression: simulator seed 4001109. Only writes made the leader's silence suspicious in Multi-Paxos: the group stood
// still in silence for clients that only read.
TEST_CASE("clients that only read make a silent leader suspicious") {
  const std::string agreement = GENERATE("1paxos", "multipaxos");
  Survivors others(agreement, {1, 2});
  others.reads = true;
  others.run(3 * kBlockedAfterMs);
  const auto leads = [&](int replica) { return others.group.core(replica).status().role == Role::kLeader; };
  CHECK((leads(1) || leads(2)));
}

TEST_CASE("a leader whose segment has no room for proposals says so") {
  Survivors all("1paxos", {0, 1, 2});
  all.run(kBlockedAfterMs);
  REQUIRE(all.group.core(0).applier().applied() > Slot(0));
  all.group.stable(0).set_capacity(1);
  all.run(4 * kBlockedAfterMs);
  CHECK(all.group.core(0).status().blocked);
  CHECK(all.group.core(0).status().why == Blocked::kNoRoom);
  all.group.stable(0).set_capacity(1024 * 1024);
  all.run(kBlockedAfterMs);
  CHECK(!all.group.core(0).status().blocked);
}

TEST_CASE("a group that decides, or that is idle, is not blocked") {
  const std::string agreement = GENERATE("1paxos", "multipaxos", "2pc");
  Survivors all(agreement, {0, 1, 2});
  all.run(5 * kBlockedAfterMs, false);
  for (int replica = 0; replica < 3; ++replica) CHECK(!all.group.core(replica).wants_tick());
  all.run(5 * kBlockedAfterMs);
  for (int replica = 0; replica < 3; ++replica) CHECK(!all.group.core(replica).status().blocked);
  CHECK(all.lines == 0);
}

}  // namespace
}  // namespace ingot
