// Groups whose leaders and acceptors die, each from one seed. INGOT_SEED=n runs one seed only, with its trace;
// INGOT_SIMULATIONS=n changes how many each combination gets.
#include <cstdlib>
#include <string>

#include <catch2/catch.hpp>

#include "tests/agreement/failover.h"

namespace ingot::testing {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

void fail_over_seeds(int replicas, int voters, std::uint64_t seeds) {
  const std::uint64_t only = from_environment("INGOT_SEED", 0);
  const std::uint64_t last = only > 0 ? only : from_environment("INGOT_SIMULATIONS", seeds);
  FailoverResult sum;
  for (std::uint64_t seed = only > 0 ? only : 1; seed <= last; ++seed) {
    FailoverOptions options;
    options.replicas = replicas;
    options.voters = voters;
    options.seed = seed;
    options.trace = only > 0;
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
  if (only > 0) return;
  INFO(replicas << " replicas, " << voters << " voters: " << sum.decided << " slots, " << sum.reads << " reads, "
                << sum.kills << " kills, " << sum.both << " of both, " << sum.restarts << " restarts, " << sum.changes
                << " changes, " << sum.salvages << " salvages, " << sum.snapshots << " snapshots");
  CHECK(sum.decided > 10 * last);
  CHECK(sum.kills > last);
  CHECK(sum.salvages > 0);
  if (voters > 2) CHECK(sum.changes > last);
}

TEST_CASE("1Paxos survives kills, stops and restarts of anybody: three replicas") { fail_over_seeds(3, 3, 600); }
TEST_CASE("1Paxos survives kills, stops and restarts of anybody: four replicas") { fail_over_seeds(4, 4, 400); }
TEST_CASE("1Paxos survives kills, stops and restarts of anybody: five replicas") { fail_over_seeds(5, 5, 300); }
TEST_CASE("1Paxos survives kills, stops and restarts of anybody: learners") { fail_over_seeds(5, 3, 200); }
TEST_CASE("1Paxos survives kills, stops and restarts of anybody: one and two voters") {
  fail_over_seeds(1, 1, 100);
  fail_over_seeds(2, 2, 200);
  fail_over_seeds(3, 1, 100);
}

}  // namespace
}  // namespace ingot::testing
