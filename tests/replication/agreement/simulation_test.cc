// Thousands of groups, each from one seed. INGOT_SEED=n runs one seed only; INGOT_SIMULATIONS=n changes how many each
// combination gets.
#include <cstdlib>
#include <string>

#include <catch2/catch.hpp>

#include "tests/replication/agreement/seeds.h"
#include "tests/replication/agreement/simulation.h"

namespace ingot::testing {
namespace {

// Returns the sums over all seeds.
SimulationResult simulate_seeds(const std::string& kind, int replicas, int voters, std::uint64_t seeds) {
  const SeedRange range = seeds_to_run(seeds);
  SimulationResult sum;
  for (std::uint64_t seed = range.first; seed <= range.last; ++seed) {
    const SimulationResult result = simulate({kind, replicas, voters, seed});
    INFO("INGOT_SEED=" << seed << ", " << kind << ", " << replicas << " replicas, " << voters << " voters");
    REQUIRE(result.violation == "");
    REQUIRE(result.refused == 0);
    sum.decided += result.decided;
    sum.reads += result.reads;
    sum.lost += result.lost;
    sum.snapshots += result.snapshots;
    sum.rejected += result.rejected;
  }
  return sum;
}

struct Size {
  int replicas;
  int voters;
  std::uint64_t seeds;
};

// No checker found a violation, and the runs were meaningful: slots were decided, reads answered, messages lost.
void check_all_sizes(const std::string& kind) {
  std::uint64_t snapshots = 0;
  for (const Size size : {Size{1, 1, 100}, Size{2, 2, 500}, Size{3, 3, 500}, Size{3, 1, 200}, Size{4, 3, 300},
                          Size{5, 5, 300}, Size{24, 7, 40}}) {
    const SimulationResult sum = simulate_seeds(kind, size.replicas, size.voters, size.seeds);
    if (std::getenv("INGOT_SEED")) continue;
    INFO(kind << " with " << size.replicas << " replicas");
    CHECK(sum.decided > 10 * size.seeds);
    CHECK(sum.reads > 0);
    if (size.replicas == 1) continue;
    CHECK(sum.lost > 0);
    CHECK(sum.rejected > 0);
    snapshots += sum.snapshots;
  }
  // Not in every size: a 1Paxos replica keeps decided slots until a snapshot outlives them, while the in-flight entries
  // have room.
  if (kind != "2pc" && !std::getenv("INGOT_SEED")) CHECK(snapshots > 0);
}

TEST_CASE("1Paxos keeps its guarantees under any schedule") { check_all_sizes("1paxos"); }
TEST_CASE("Multi-Paxos keeps its guarantees under any schedule") { check_all_sizes("multipaxos"); }
TEST_CASE("2PC keeps its guarantees under any schedule") { check_all_sizes("2pc"); }

TEST_CASE("a seed reproduces its run") {
  const SimulationResult once = simulate({"1paxos", 5, 5, 42});
  const SimulationResult again = simulate({"1paxos", 5, 5, 42});
  CHECK(once.decided == again.decided);
  CHECK(once.reads == again.reads);
  CHECK(once.lost == again.lost);
}

}  // namespace
}  // namespace ingot::testing
