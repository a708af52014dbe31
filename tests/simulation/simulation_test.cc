// A few seeds of each agreement; INGOT_SIMULATIONS=n runs n of each instead. bazel-bin/tests/simulate runs millions.
#include <cstdlib>
#include <string>

#include <catch2/catch.hpp>

#include "tests/simulation/report.h"
#include "tests/simulation/shrink.h"
#include "tests/simulation/sweep.h"

namespace ingot::simulation {
namespace {

std::uint64_t seeds_or(std::uint64_t otherwise) {
  const char* value = std::getenv("INGOT_SIMULATIONS");
  return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

// An agreement that cannot do without one of its first replicas is only stopped and slowed down.
bool survives_kills(const std::string& agreement) { return agreement != "2pc"; }

Options options_of(const std::string& agreement, int replicas, int voters) {
  Options options;
  options.agreement = agreement;
  options.replicas = replicas;
  options.voters = voters;
  options.kills = survives_kills(agreement);
  return options;
}

SweepResult check_seeds(const Options& options, std::uint64_t seeds) {
  const SweepResult result = sweep(options, seeds, 1, 1);
  for (const Failure& failure : result.failures) {
    Options failed = options;
    failed.seed = failure.seed;
    FAIL_CHECK(command_line(failed) << "\n" << failure.violation);
  }
  return result;
}

void check_sizes(const std::string& agreement) {
  const std::uint64_t seeds = seeds_or(60);
  for (const auto& [replicas, voters] : {std::pair{3, 3}, {4, 4}, {5, 5}, {6, 3}}) {
    const SweepResult result = check_seeds(options_of(agreement, replicas, voters), seeds);
    if (!result.failures.empty()) return;
    CHECK(result.tally.writes >= 200 * seeds);
    std::uint64_t faults = 0;
    for (const std::uint64_t count : result.tally.faults) faults += count;
    CHECK(faults >= 3 * seeds);
    CHECK(10 * result.tally.both_lost >= seeds / 2);  // a tenth of many; of few, it varies
    CHECK((result.tally.restarts > 0) == survives_kills(agreement));
  }
}

TEST_CASE("1Paxos: no judge objects") { check_sizes("1paxos"); }
TEST_CASE("Multi-Paxos: no judge objects") { check_sizes("multipaxos"); }
TEST_CASE("2PC: no judge objects") { check_sizes("2pc"); }

// It is blocked for good by the first death, says so, and tells nobody anything wrong.
TEST_CASE("2PC: who died is said, and no judge objects") {
  for (const int replicas : {3, 5}) {
    Options options = options_of("2pc", replicas, replicas);
    options.kills = true;
    CHECK(check_seeds(options, seeds_or(60)).tally.restarts > 0);
  }
}

// ---- Seeds that found bugs ------------------------------------------------------------------------------------------
// Each found the bug that is named, in the runs that the simulator drew from it then. A seed means another run after each
// change of what is drawn, so these stay as seeds that have to be clean; the bugs' own tests are the protocols'.

// A backlog that had dropped something drained, what was said then dropped something again, and so on for ever.
TEST_CASE("one drain does not bring about the next") {
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

// Everybody had died, and so had the only one that had installed the published snapshot then: nobody who lived had
// trimmed what all lacked, so nobody asked for that snapshot.
TEST_CASE("what only the dead had trimmed comes with a snapshot") {
  Options options = options_of("1paxos", 5, 5);
  options.seed = 1955;
  CHECK(run(options).violation == "");
}

// As before, but one who lived was the next incarnation of one that had trimmed: it did not vote for those slots, a
// majority needed its votes, and nobody asked for the snapshot.
TEST_CASE("what only a predecessor had trimmed comes with a snapshot") {
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

// The leader had died, and of the two who were left each thought that it was the acceptor, since one had missed an entry:
// each left it to the other to lead.
TEST_CASE("two acceptors, one of them of yesterday, find out who leads") {
  Options options = options_of("1paxos", 3, 3);
  for (const std::uint64_t seed : {5012261, 5059481}) {
    CAPTURE(seed);
    options.seed = seed;
    CHECK(run(options).violation == "");
  }
}

// It had won a leadership and slept through the next one. Then it heard of a slot that its successor had proposed,
// before it heard of the successor, and took what lay between for decided with no-ops.
TEST_CASE("who was overtaken in its sleep decides nothing on its own") {
  Options options = options_of("1paxos", 5, 5);
  options.seed = 168540;
  CHECK(run(options).violation == "");
}

// A leader installed a snapshot that held commands it had proposed, and took them for on their way for ever: nobody was
// answered who asked for them again.
TEST_CASE("a leader takes again what may have come with a snapshot") {
  Options options = options_of("1paxos", 3, 3);
  for (const std::uint64_t seed : {171154, 221052, 230096}) {
    options.seed = seed;
    CHECK(run(options).violation == "");
  }
  options = options_of("multipaxos", 3, 3);
  options.seed = 174176;
  CHECK(run(options).violation == "");
}

// Votes were lost. Reads that waited for their slot were asked again and again, and each that the voters confirmed put
// off that the slot was proposed again.
TEST_CASE("reads do not put off what is to be said again") {
  Options options = options_of("multipaxos", 5, 5);
  options.seed = 205096;
  CHECK(run(options).violation == "");
}

TEST_CASE("a seed reproduces its run, step by step") {
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
