// Thousands of groups, each from one seed. INGOT_SEED=n runs one seed only; INGOT_SIMULATIONS=n changes how many each
// combination gets.
#include <string>

#include <catch2/catch.hpp>

#include "tests/replication/agreement/simulation.h"
#include "tests/seeds.h"

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

// No checker found a violation, and the runs were meaningful: slots were decided, reads answered, messages lost. Not
// all of that happens in every size, above all not in few seeds.
void check_all_sizes(const std::string& kind) {
  SimulationResult all;
  for (const Size size : {Size{1, 1, 100}, Size{2, 2, 500}, Size{3, 3, 500}, Size{3, 1, 200}, Size{4, 3, 300},
                          Size{5, 5, 300}, Size{24, 7, 40}}) {
    const SimulationResult sum = simulate_seeds(kind, size.replicas, size.voters, size.seeds);
    if (one_seed_only()) continue;
    INFO(kind << " with " << size.replicas << " replicas");
    CHECK(sum.decided > 10 * seeds_to_run(size.seeds).count());
    all.reads += sum.reads;
    all.lost += sum.lost;
    all.rejected += sum.rejected;
    all.snapshots += sum.snapshots;
  }
  if (one_seed_only()) return;
  CHECK(all.reads > 0);
  CHECK(all.lost > 0);
  CHECK(all.rejected > 0);
  if (kind != "2pc") CHECK(all.snapshots > 0);
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
