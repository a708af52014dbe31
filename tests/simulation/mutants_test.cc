// Known bugs are caught, in seeds that are clean without them, so every checker is shown to find something.
// INGOT_MUTANT_SEEDS=n leaves out bugs that may take more than n seeds.
#include <cstdlib>

#include <catch2/catch.hpp>

#include "tests/simulation/mutants.h"
#include "tests/simulation/shrink.h"
#include "tests/simulation/sweep.h"

namespace ingot::simulation {
namespace {

constexpr std::uint64_t kSeedsInCi = 1000;

Options options_of(const MutantFacts& facts) {
  Options options;
  options.agreement = facts.agreement;
  options.replicas = facts.replicas;
  options.voters = facts.replicas;
  options.mutant = facts.mutant;
  options.kills = options.agreement != "2pc";  // 2PC blocks when a replica is dead
  return options;
}

// The number of seeds that it took, or 0.
std::uint64_t caught_after(const MutantFacts& facts) {
  Options options = options_of(facts);
  for (options.seed = 1; options.seed <= facts.seeds; ++options.seed) {
    if (run(options).violation.empty()) continue;
    Options healthy = options;
    healthy.mutant = Mutant::kNone;
    if (run(healthy).violation.empty()) return options.seed;
  }
  return 0;
}

TEST_CASE("each mutant is caught within its number of seeds") {
  const char* value = std::getenv("INGOT_MUTANT_SEEDS");
  const std::uint64_t allowed = value ? std::strtoull(value, nullptr, 10) : kSeedsInCi;
  int caught = 0;
  for (const MutantFacts& facts : all_mutants()) {
    if (facts.seeds > allowed) continue;
    INFO(facts.name << ": " << facts.meaning);
    const std::uint64_t seeds = caught_after(facts);
    CHECK(seeds > 0);
    ++caught;
  }
  if (!value) CHECK(caught == static_cast<int>(all_mutants().size()));
}

TEST_CASE("a failing seed is cut to a shorter one that fails") {
  Options options = options_of(all_mutants().front());
  options.agreement = "1paxos";
  options.mutant = Mutant::kLearnTwice;
  const SweepResult result = sweep(options, 100, 1, 1);
  REQUIRE(result.failures.size() == 1);
  options.seed = result.failures.front().seed;
  const Shrunk shrunk = shrink(options);
  CHECK(shrunk.outcome.violation != "");
  CHECK(shrunk.options.faults_max == 0);  // this bug needs none
  CHECK(shrunk.options.writes_max < 200);
  CHECK_FALSE(shrunk.outcome.trace.empty());
}

}  // namespace
}  // namespace ingot::simulation
