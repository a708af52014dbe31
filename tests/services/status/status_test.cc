#include "services/status/status.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "replication/pages/page_access.h"
#include "tests/services/status/pages_in_memory.h"

namespace ingot {
namespace {

using control_v1::GetStatusResponse;

TEST_CASE("the status shows the instance's options and its uptime") {
  PagesInMemory pages(3);
  pages.config.voters = 2;
  const GetStatusResponse status = read_status(pages.config, pages.view(), 1'002'345);
  CHECK(status.instance().name() == "test");
  CHECK(status.instance().agreement() == "1paxos");
  CHECK(status.instance().transport() == "nvp");
  CHECK(status.instance().backend() == "shm");
  CHECK(status.instance().isolation() == "process");
  CHECK(status.instance().version() == kIngotVersion);
  CHECK(status.instance().uptime().seconds() == 2);
  CHECK(status.instance().uptime().nanos() == 345'000'000);
  REQUIRE(status.replicas_size() == 3);
  CHECK((status.replicas(0).voter() && status.replicas(1).voter() && !status.replicas(2).voter()));
  CHECK(read_status(pages.config, pages.view(), 5).instance().uptime().seconds() == 0);  // the clock was set back
}

TEST_CASE("an instance that began empty after a former one's death did not say so") {
  PagesInMemory pages(3);
  CHECK(read_status(pages.config, pages.view(), 0).instance().lost_former_unix_ms() == 0);
  pages.daemon.lost_former_unix_ms.set(1'700'000'000'000);
  CHECK(read_status(pages.config, pages.view(), 0).instance().lost_former_unix_ms() == 1'700'000'000'000);
}

TEST_CASE("the store's bytes are those of the replica that has applied the most") {
  PagesInMemory pages(3);
  pages.set_progress(0, 5, 5, 5);
  pages[0][ReplicaCounter::kStoreLiveBytes].set(1);
  pages.set_progress(2, 6, 6, 6);
  pages[2][ReplicaCounter::kStoreLiveBytes].set(2);
  pages[2][ReplicaCounter::kStoreHistoryBytes].set(3);
  pages[2][ReplicaCounter::kStoreQuotaBytes].set(4);
  pages[2][ReplicaCounter::kStoreNoSpace].set(1);
  const control_v1::Store store = read_status(pages.config, pages.view(), 0).store();
  CHECK((store.live_bytes() == 2 && store.history_bytes() == 3 && store.quota_bytes() == 4 && store.no_space()));
}

TEST_CASE("a replica is up once the page of its own incarnation says that it is ready") {
  struct Case {
    ProcessState state;
    std::uint64_t incarnation, ready_incarnation;
    control_v1::State expected;
  };
  const Case cases[] = {
      {ProcessState::kStarting, 1, 0, control_v1::STATE_STARTING},
      {ProcessState::kStarting, 2, 1, control_v1::STATE_STARTING},  // the page is its predecessor's
      {ProcessState::kUp, 2, 1, control_v1::STATE_STARTING},
      {ProcessState::kUp, 0, 0, control_v1::STATE_STARTING},  // an empty page: no incarnation is number 0
      {ProcessState::kStarting, 2, 2, control_v1::STATE_UP},
      {ProcessState::kUp, 2, 2, control_v1::STATE_UP},
      {ProcessState::kStopped, 2, 2, control_v1::STATE_STOPPED},
      {ProcessState::kDead, 2, 2, control_v1::STATE_DEAD},
  };
  for (const Case& c : cases) {
    CAPTURE(static_cast<int>(c.state), c.incarnation, c.ready_incarnation);
    ProcessEntry entry;
    entry.state.set(static_cast<std::uint64_t>(c.state));
    entry.incarnation.set(c.incarnation);
    CHECK(state_of(entry, c.ready_incarnation) == c.expected);
  }
}

TEST_CASE("a dead replica has no process and no role, whatever its page still says") {
  PagesInMemory pages(3);
  pages.set_role(0, Role::kLeader);
  pages.set_role(1, Role::kAcceptor);
  pages.set_state(0, ProcessState::kDead);
  pages.set_state(1, ProcessState::kStopped);
  const GetStatusResponse status = read_status(pages.config, pages.view(), 0);
  CHECK(status.replicas(0).state() == control_v1::STATE_DEAD);
  CHECK(status.replicas(0).pid() == 0);
  CHECK(status.replicas(0).incarnation() == 1);
  CHECK(status.replicas(0).role() == control_v1::ROLE_REPLICA);
  CHECK(status.replicas(1).state() == control_v1::STATE_STOPPED);
  CHECK(status.replicas(1).pid() == 1001);
  CHECK(status.replicas(1).role() == control_v1::ROLE_ACCEPTOR);  // it may go on
}

TEST_CASE("of two replicas that claim a role, the one in the newest configuration has it, even if both run") {
  PagesInMemory pages(4);
  for (const std::size_t id : {0, 1, 2}) pages.set_role(id, Role::kLeader);
  pages[0][ReplicaCounter::kBallot].set(4);
  pages[1][ReplicaCounter::kBallot].set(9);
  pages[2][ReplicaCounter::kBallot].set(7);
  pages.set_state(0, ProcessState::kStopped);
  const auto roles = [&](ShownRoles shown) {
    std::vector<control_v1::Role> all;
    const GetStatusResponse status = read_status(pages.config, pages.view(), 0, shown);
    for (const auto& replica : status.replicas()) all.push_back(replica.role());
    return all;
  };
  using enum control_v1::Role;
  CHECK(roles(ShownRoles::kHeld) == std::vector{ROLE_REPLICA, ROLE_LEADER, ROLE_REPLICA, ROLE_REPLICA});
  CHECK(roles(ShownRoles::kClaimed) == std::vector{ROLE_LEADER, ROLE_LEADER, ROLE_LEADER, ROLE_REPLICA});
  pages.set_state(1, ProcessState::kDead);
  CHECK(roles(ShownRoles::kHeld) == std::vector{ROLE_REPLICA, ROLE_REPLICA, ROLE_LEADER, ROLE_REPLICA});
  pages[0][ReplicaCounter::kEpoch].set(1);  // stopped, and no replica has replaced it
  CHECK(roles(ShownRoles::kHeld) == std::vector{ROLE_LEADER, ROLE_REPLICA, ROLE_REPLICA, ROLE_REPLICA});
}

TEST_CASE("lag is the number of slots decided by any replica and not applied by this one") {
  PagesInMemory pages(3);
  pages.set_progress(0, 12, 10, 10);
  pages.set_progress(1, 0, 11, 9);
  pages.set_progress(2, 0, 4, 4);
  pages[1][ReplicaCounter::kEpoch].set(3);
  pages[1][ReplicaCounter::kBallot].set(5);
  const GetStatusResponse status = read_status(pages.config, pages.view(), 0);
  CHECK(status.replicas(0).proposed() == 12);
  CHECK(status.replicas(1).decided() == 11);
  CHECK(status.replicas(1).applied() == 9);
  CHECK(status.replicas(1).epoch() == 3);
  CHECK(status.replicas(1).ballot() == 5);
  CHECK(status.replicas(0).lag() == 1);
  CHECK(status.replicas(1).lag() == 2);
  CHECK(status.replicas(2).lag() == 7);
}

TEST_CASE("the leader's report names the blocking replica, and a dead replica's does not count") {
  PagesInMemory pages(4);
  CHECK(!read_status(pages.config, pages.view(), 0).has_blocked());
  pages[1][ReplicaCounter::kBlocked].set(1);
  pages[1][ReplicaCounter::kBlockedBy].set(0b0001);
  pages[2][ReplicaCounter::kBlocked].set(1);
  pages[2][ReplicaCounter::kBlockedBy].set(0b1010);
  pages.set_role(2, Role::kLeader);
  GetStatusResponse status = read_status(pages.config, pages.view(), 0);
  CHECK(status.blocked().by() == 1);
  REQUIRE(status.blocked().waits_for_size() == 2);
  CHECK(status.blocked().waits_for(1) == 3);
  REQUIRE(status.blocked().reported_by_size() == 2);
  CHECK(status.blocked().reported_by(0) == 1);
  CHECK(status.blocked().reported_by(1) == 2);

  pages.set_state(1, ProcessState::kDead);
  pages.set_state(2, ProcessState::kDead);
  CHECK(!read_status(pages.config, pages.view(), 0).has_blocked());
}

// Regression: the status of a 2PC group whose coordinator had been started again named no replica that it waits for.
TEST_CASE("a coordinator that was started again does not hide that the others wait for it") {
  PagesInMemory pages(3);
  for (int id = 0; id < 3; ++id) {
    pages[id][ReplicaCounter::kBlocked].set(1);
    pages[id][ReplicaCounter::kBlockedBy].set(0b001);
    pages[id][ReplicaCounter::kBlockedWhy].set(static_cast<std::uint64_t>(Blocked::kCoordinatorDead));
  }
  const GetStatusResponse status = read_status(pages.config, pages.view(), 0);
  CHECK(status.blocked().has_by());
  CHECK(status.blocked().waits_for_size() == 1);
  CHECK(status.blocked().reported_by_size() == 3);
}

TEST_CASE("replica 0 is told from no particular replica") {
  PagesInMemory pages(3);
  pages[1][ReplicaCounter::kBlocked].set(1);
  CHECK(!read_status(pages.config, pages.view(), 0).blocked().has_by());
  pages[1][ReplicaCounter::kBlockedBy].set(0b010);  // itself, as a new incarnation in 2PC
  CHECK(!read_status(pages.config, pages.view(), 0).blocked().has_by());
  pages[1][ReplicaCounter::kBlockedBy].set(0b001);
  const GetStatusResponse status = read_status(pages.config, pages.view(), 0);
  CHECK(status.blocked().has_by());
  CHECK(status.blocked().by() == 0);
}

TEST_CASE("the front end says it if no replica runs") {
  PagesInMemory pages(3);
  for (int replica = 0; replica < 2; ++replica) pages.set_state(replica, ProcessState::kStopped);
  CHECK(!read_status(pages.config, pages.view(), 0).has_blocked());
  pages.set_state(2, ProcessState::kDead);
  const GetStatusResponse status = read_status(pages.config, pages.view(), 0);
  CHECK(status.blocked().why() == "no replica runs");
  CHECK(status.blocked().reported_by_size() == 0);
  CHECK_THAT(status.blocked().details(), Catch::Matchers::EndsWith("; not up: 0 (stopped), 1 (stopped), 2 (dead)"));
}

TEST_CASE("a block is shown with its cause, slots and time, and time alone is no change") {
  PagesInMemory pages(2);
  pages.set_role(0, Role::kLeader);
  ReplicaPage& page = pages[0];
  page[ReplicaCounter::kBlocked].set(1);
  page[ReplicaCounter::kBlockedBy].set(0b10);
  page[ReplicaCounter::kBlockedFrom].set(4);
  page[ReplicaCounter::kBlockedTo].set(7);
  for (std::uint64_t why = 1; why <= static_cast<std::uint64_t>(Blocked::kUnexplained); ++why) {
    page[ReplicaCounter::kBlockedWhy].set(why);
    const auto blocked = read_status(pages.config, pages.view(), 0).blocked();
    CHECK(blocked.why() == text_of(static_cast<Blocked>(why)));
    CHECK_THAT(blocked.details(), Catch::Matchers::StartsWith(blocked.why() + "; slots 4 to 6 wait; it "));
    CHECK(blocked.duration().seconds() == 0);  // without the time of the beginning
  }
  const std::string before = fingerprint(read_status(pages.config, pages.view(), 0));
  page[ReplicaCounter::kBlockedSinceNs].set(1);  // since the start of the machine
  const GetStatusResponse later = read_status(pages.config, pages.view(), 0);
  CHECK(later.blocked().duration().seconds() > 0);
  CHECK_THAT(later.blocked().details(), Catch::Matchers::Contains("; nothing was decided for "));
  CHECK(fingerprint(later) == before);
}

TEST_CASE("a block names the voters that are not up") {
  PagesInMemory pages(5);
  pages.config.voters = 4;
  pages[1][ReplicaCounter::kBlocked].set(1);
  pages[1][ReplicaCounter::kBlockedWhy].set(static_cast<std::uint64_t>(Blocked::kNoMajority));
  const auto details = [&] { return read_status(pages.config, pages.view(), 0).blocked().details(); };
  const std::string why = std::string(text_of(Blocked::kNoMajority)) + "; " + std::string(end_of(Blocked::kNoMajority));
  CHECK(details() == why);
  pages.set_state(0, ProcessState::kDead);
  pages.set_state(3, ProcessState::kStopped);
  pages.set_state(4, ProcessState::kDead);  // no voter
  CHECK(details() == why + "; not up: 0 (dead), 3 (stopped)");
  pages[1][ReplicaCounter::kBlockedBy].set(0b10000);  // no voter, but waited for
  CHECK(details() == why + "; not up: 0 (dead), 3 (stopped), 4 (dead)");
}

// Regression: with too many segments the status named --kept-segments-mib, which changes nothing then.
TEST_CASE("kept segments are shown while writes wait for them, with the bound that is passed") {
  PagesInMemory pages(3);
  pages.config.kept_segments_mib = 2;
  const auto read = [&](const KeptSummary& kept) {
    publish_kept(pages.daemon, kept);
    return read_status(pages.config, pages.view(), 0);
  };
  constexpr std::uint64_t kMib = 1024 * 1024;
  CHECK(!read({KeptSegments::kFew, 1, kMib}).has_kept_segments());
  CHECK(!read({KeptSegments::kMany, 65, 2 * kMib}).has_kept_segments());
  const std::string begin = "writes wait until a snapshot is published: ";
  const GetStatusResponse memory = read({KeptSegments::kFull, 1, 3 * kMib});
  CHECK(memory.kept_segments().segments() == 1);
  CHECK(memory.kept_segments().bytes() == 3 * kMib);
  CHECK(memory.kept_segments().why() ==
        begin + "3 MiB in 1 stable segment of ended incarnations is kept until then; --kept-segments-mib is 2");
  CHECK(read({KeptSegments::kFull, 128, 3 * kMib}).kept_segments().why() ==
        begin + "3 MiB in 128 stable segments of ended incarnations are kept until then; --kept-segments-mib is 2");
  for (const std::uint64_t mib : {1, 3}) {
    CHECK(read({KeptSegments::kFull, 129, mib * kMib}).kept_segments().why() ==
          begin + std::to_string(mib) +
              " MiB in 129 stable segments of ended incarnations are kept until then; "
              "beyond 128 writes wait, whatever --kept-segments-mib is");
  }
  CHECK(!read({KeptSegments::kFew, 0, 0}).has_kept_segments());
}

TEST_CASE("progress and time do not change the fingerprint, every other field does") {
  PagesInMemory pages(3);
  const auto read = [&](std::int64_t now_ms) { return read_status(pages.config, pages.view(), now_ms); };
  const std::string before = fingerprint(read(0));

  CHECK(fingerprint(read(5'000'000)) == before);
  pages.set_progress(0, 3, 2, 1);
  pages[0][ReplicaCounter::kStoreLiveBytes].set(1);
  pages[0][ReplicaCounter::kStoreHistoryBytes].set(1);
  CHECK(fingerprint(read(0)) == before);

  SECTION("a role") { pages.set_role(1, Role::kAcceptor); }
  SECTION("a state") { pages.set_state(1, ProcessState::kStopped); }
  SECTION("a process") { pages.daemon.replicas[1].pid.set(77); }
  SECTION("a life") { pages.set_incarnation(1, 2); }
  SECTION("a place") { pages.daemon.replicas[1].core.set(7); }
  SECTION("a ballot") { pages[1][ReplicaCounter::kBallot].set(7); }
  SECTION("an epoch") { pages[1][ReplicaCounter::kEpoch].set(7); }
  SECTION("the alarm") { pages[0][ReplicaCounter::kStoreNoSpace].set(1); }
  SECTION("a block") { pages[1][ReplicaCounter::kBlocked].set(1); }
  CHECK(fingerprint(read(0)) != before);
}

}  // namespace
}  // namespace ingot
