// A few new seeds of each agreement; INGOT_SIMULATIONS=n runs n of each, INGOT_SEED=n that one. many_seeds_test runs
// thousands, bazel-bin/tests/simulate millions.
#include <string>

#include <catch2/catch.hpp>

#include "tests/seeds.h"
#include "tests/simulation/plan.h"
#include "tests/simulation/report.h"
#include "tests/simulation/shrink.h"
#include "tests/simulation/sweep.h"

namespace ingot::simulation {
namespace {

constexpr std::uint64_t kSeeds = 20;
constexpr std::uint64_t kSeedsForShares = 1000;  // of fewer, the share of a rare fault varies

// 2PC cannot go on without one of its first replicas, so its replicas are only stopped and slowed down.
bool survives_kills(const std::string& agreement) { return agreement != "2pc"; }

Options options_of(const std::string& agreement, int replicas, int voters) {
  Options options;
  options.agreement = agreement;
  options.replicas = replicas;
  options.voters = voters;
  options.kills = survives_kills(agreement);
  return options;
}

SweepResult check_seeds(Options options, const testing::SeedRange& range) {
  options.seed = range.first;
  const SweepResult result = sweep(options, range.count(), 1, 1);
  for (const Failure& failure : result.failures) {
    Options failed = options;
    failed.seed = failure.seed;
    FAIL_CHECK(command_line(failed) << "\n" << failure.violation);
  }
  return result;
}

void check_sizes(const std::string& agreement) {
  const testing::SeedRange range = testing::seeds_to_run(kSeeds);
  const std::uint64_t seeds = range.count();
  for (const auto& [replicas, voters] : {std::pair{3, 3}, {4, 4}, {5, 5}, {6, 3}}) {
    const SweepResult result = check_seeds(options_of(agreement, replicas, voters), range);
    if (!result.failures.empty()) return;
    if (range.one_only) continue;
    // In a few seeds clients give up on most writes, since nearly all replicas are stopped for seconds.
    const Tally& tally = result.tally;
    CHECK(tally.writes + tally.unacknowledged_writes >= 200 * seeds);
    if (seeds >= kSeedsForShares) CHECK(tally.unacknowledged_writes <= tally.writes / 50);
    if (seeds >= kSeedsForShares) CHECK(tally.no_space > seeds);  // in some seeds a quota is reached
    std::uint64_t faults = 0;
    for (const std::uint64_t count : tally.faults) faults += count;
    CHECK(faults >= 3 * seeds);
    if (seeds >= kSeedsForShares) CHECK(10 * tally.both_lost >= seeds / 2);
    CHECK((tally.restarts > 0) == survives_kills(agreement));
  }
}

TEST_CASE("1Paxos: no checker finds a violation") { check_sizes("1paxos"); }
TEST_CASE("Multi-Paxos: no checker finds a violation") { check_sizes("multipaxos"); }
TEST_CASE("2PC: no checker finds a violation") { check_sizes("2pc"); }

// The first death blocks the group for good; its replicas report that, and no client gets a wrong answer.
TEST_CASE("2PC: a blocked group names the dead replica, and no checker finds a violation") {
  for (const int replicas : {3, 5}) {
    Options options = options_of("2pc", replicas, replicas);
    options.kills = true;
    const testing::SeedRange range = testing::seeds_to_run(kSeeds);
    const SweepResult result = check_seeds(options, range);
    if (!range.one_only) CHECK(result.tally.restarts > 0);
  }
}

// ---- Seeds that found bugs ------------------------------------------------------------------------------------------
// Each seed found the named bug in the run that the simulator drew from it then. Each change of the draws gives a seed
// another run, so these stay as seeds that must be clean; the protocols' own tests cover the bugs.

// A backlog that had dropped messages drained, and the messages sent then made it drop others, and so on without end.
TEST_CASE("messages sent after a backlog has drained do not overflow it again") {
  Options options = options_of("1paxos", 3, 3);
  options.seed = 890;
  CHECK(run(options).violation == "");
  options.faults_max = 0;
  options.writes_max = 60;
  CHECK(run(options).violation == "");
  options = options_of("multipaxos", 5, 5);
  options.seed = 2112;
  CHECK(run(options).violation == "");
}

// All replicas had died, and then so had the only one that had installed the published snapshot. No living replica had
// trimmed the slots that all lacked, so none asked for that snapshot.
TEST_CASE("slots that only dead replicas had trimmed come with a snapshot") {
  Options options = options_of("1paxos", 5, 5);
  options.seed = 1955;
  CHECK(run(options).violation == "");
}

// As before, but one living replica was the next incarnation of one that had trimmed. It did not vote for those slots,
// a majority needed its votes, and no replica asked for the snapshot.
TEST_CASE("slots that only a predecessor had trimmed come with a snapshot") {
  Options options = options_of("multipaxos", 5, 5);
  options.seed = 341428;
  CHECK(run(options).violation == "");
}

// A replica was stopped before it applied a decided slot; a snapshot that held that slot arrived, and was installed
// between the two steps, where no real loop looks for one.
TEST_CASE("a snapshot is installed between two executions") {
  Options options = options_of("multipaxos", 3, 3);
  options.kills = true;
  options.seed = 105144;
  CHECK(run(options).violation == "");
}

// The leader had died, and each of the two remaining replicas took itself for the acceptor, since one had missed an
// entry: each waited for the other to lead.
TEST_CASE("of two replicas that both think they are the acceptor, one becomes leader") {
  Options options = options_of("1paxos", 3, 3);
  for (const std::uint64_t seed : {5012261, 5059481}) {
    CAPTURE(seed);
    options.seed = seed;
    CHECK(run(options).violation == "");
  }
}

// A replica was elected and then stopped while the next leader was elected. It heard of a slot that its successor had
// proposed before it heard of the successor, and took the slots between for decided with no-ops.
TEST_CASE("a leader that was deposed while it was stopped decides nothing on its own") {
  Options options = options_of("1paxos", 5, 5);
  options.seed = 168540;
  CHECK(run(options).violation == "");
}

// A replica was stopped while a peer began anew, led and died for good. When it went on, the simulation dropped the news
// of that death, since the former incarnation's was known: it waited for the peer for ever.
TEST_CASE("a replica that was stopped hears of the death of an incarnation that it has not connected to") {
  Options options = options_of("1paxos", 5, 5);
  options.seed = 2255958159;
  CHECK(run(options).violation == "");
}

// A leader installed a snapshot that held commands it had proposed, and counted them as in flight for ever: a client
// that sent such a request again got no answer.
TEST_CASE("a leader takes a request again that may have come with a snapshot") {
  Options options = options_of("1paxos", 3, 3);
  for (const std::uint64_t seed : {171154, 221052, 230096}) {
    options.seed = seed;
    CHECK(run(options).violation == "");
  }
  options = options_of("multipaxos", 3, 3);
  options.seed = 174176;
  CHECK(run(options).violation == "");
}

// Votes were lost. Reads that waited for their slot were asked again and again, and each confirmed read delayed the
// retransmission of the slot's proposal.
TEST_CASE("reads do not delay retransmission") {
  Options options = options_of("multipaxos", 5, 5);
  options.seed = 205096;
  CHECK(run(options).violation == "");
}

// The simulated replicas' pages did not show the room in use: no snapshot was due because a segment filled, and a leader
// waited for room for ever.
TEST_CASE("a leader with a narrow segment gets room by a snapshot") {
  Options options = options_of("multipaxos", 3, 3);
  for (const std::uint64_t seed : {34017, 42475, 92032}) {
    options.seed = seed;
    CHECK(run(options).violation == "");
  }
}

// The simulator drew less room for prepared commands than one batch took, so that each participant refused it. The
// clients repeated all their requests at one instant, and the leader put them into one batch again, for ever.
TEST_CASE("2PC: an idle participant has room for a batch") {
  Options options = options_of("2pc", 5, 5);
  for (const std::uint64_t seed : {42094299, 42428130}) {
    options.seed = seed;
    CHECK(run(options).violation == "");
  }
  for (options.seed = 1; options.seed <= 1000; ++options.seed) {
    const Plan plan(options);
    CAPTURE(options.seed);
    CHECK(plan.replica.bounds.batch_bytes <= plan.bounds.prepared_bytes);
  }
}

// A leader proposed again, one slot each time that a slow voter was asked again, what was decided before, and said
// nothing meanwhile.
TEST_CASE("a new leader that proposes again for long says what it waits for") {
  Options options = options_of("multipaxos", 5, 5);
  options.seed = 42146558;
  CHECK(run(options).violation == "");
}

// A transaction deleted a key, put it and deleted it, and its revision was compacted. What was left of it was another
// version than a replica had left that loaded the snapshot, and the digests of a later slot differed.
TEST_CASE("a key that one transaction deletes, puts and deletes is equal on a replica that loads a snapshot") {
  Options options = options_of("1paxos", 3, 3);
  for (const std::uint64_t seed : {1082, 1135, 1187, 1196, 1229, 1397}) {
    options.seed = seed;
    CHECK(run(options).violation == "");
  }
}

TEST_CASE("running a seed twice gives the same steps") {
  Options options = options_of("1paxos", 5, 5);
  options.seed = 42;
  options.trace = true;
  const Outcome once = run(options);
  const Outcome again = run(options);
  CHECK(once.trace == again.trace);
  CHECK(once.tally.events == again.tally.events);
  CHECK(once.trace.size() > 1000);
}

}  // namespace
}  // namespace ingot::simulation
