// Groups whose leaders and acceptors die, each run from one seed. INGOT_SEED=n runs one seed only, with its trace;
// INGOT_SIMULATIONS=n changes how many each combination gets.
#include <string>

#include <catch2/catch.hpp>

#include "tests/replication/agreement/failover.h"
#include "tests/seeds.h"

namespace ingot::testing {
namespace {

void fail_over_seeds(int replicas, int voters, std::uint64_t seeds) {
  const SeedRange range = seeds_to_run(seeds);
  FailoverResult sum;
  for (std::uint64_t seed = range.first; seed <= range.last; ++seed) {
    FailoverOptions options;
    options.replicas = replicas;
    options.voters = voters;
    options.seed = seed;
    options.trace = range.one_only;
    const FailoverResult result = fail_over(options);
    INFO("INGOT_SEED=" << seed << ", " << replicas << " replicas, " << voters << " voters");
    REQUIRE(result.violation == "");
    sum.decided += result.decided;
    sum.reads += result.reads;
    sum.kills += result.kills;
    sum.both += result.both;
    sum.restarts += result.restarts;
    sum.changes += result.changes;
    sum.salvages += result.salvages;
    sum.snapshots += result.snapshots;
  }
  if (range.one_only) return;
  INFO(replicas << " replicas, " << voters << " voters: " << sum.decided << " slots, " << sum.reads << " reads, "
                << sum.kills << " kills, " << sum.both << " of both, " << sum.restarts << " restarts, " << sum.changes
                << " changes, " << sum.salvages << " salvages, " << sum.snapshots << " snapshots");
  CHECK(sum.decided > 10 * range.count());
  CHECK(sum.kills > range.count());
  CHECK(sum.salvages > 0);
  if (voters > 2) CHECK(sum.changes > range.count());
}

TEST_CASE("1Paxos survives kills, stops and restarts of any replica: three replicas") { fail_over_seeds(3, 3, 600); }
TEST_CASE("1Paxos survives kills, stops and restarts of any replica: four replicas") { fail_over_seeds(4, 4, 400); }
TEST_CASE("1Paxos survives kills, stops and restarts of any replica: five replicas") { fail_over_seeds(5, 5, 300); }
TEST_CASE("1Paxos survives kills, stops and restarts of any replica: learners") { fail_over_seeds(5, 3, 200); }
TEST_CASE("1Paxos survives kills, stops and restarts of any replica: one and two voters") {
  fail_over_seeds(1, 1, 100);
  fail_over_seeds(2, 2, 200);
  fail_over_seeds(3, 1, 100);
}

}  // namespace
}  // namespace ingot::testing
