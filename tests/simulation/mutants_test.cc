// Each rule that is left out is found: within its number of new seeds, in a seed that is clean with it, or by a
// scenario, in which replicas then disagree or take another wrong step. So every rule is needed, and every checker that
// the table names finds something. Seeds for rules that are found in fewer than one seed of kOneInMost are run only if
// INGOT_ALL_MUTANTS is set. INGOT_SEED=n begins with seed n.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/rule.h"
#include "tests/replication/agreement/scenario.h"
#include "tests/seeds.h"
#include "tests/simulation/mutants.h"
#include "tests/simulation/shrink.h"
#include "tests/simulation/sweep.h"

namespace ingot::simulation {
namespace {

constexpr std::uint64_t kOneInMost = 150;

Options options_of(const Mutant& mutant) {
  Options options;
  options.agreement = mutant.agreement;
  options.replicas = mutant.replicas;
  options.voters = mutant.replicas;
  options.mutant = mutant.rule;
  options.kills = options.agreement != "2pc";  // 2PC blocks when a replica is dead
  return options;
}

bool objects(const Mutant& mutant, const std::string& violation) {
  for (const absl::string_view checker : absl::StrSplit(mutant.checkers, ", ")) {
    if (violation.rfind(std::string(checker), 0) == 0) return true;
  }
  return false;
}

// In a seed that is clean with the rule.
bool found_by_seeds(const Mutant& mutant) {
  Options options = options_of(mutant);
  options.seed = testing::drawn_seed();
  for (const std::uint64_t end = options.seed + mutant.seeds(); options.seed < end; ++options.seed) {
    if (!objects(mutant, run(options).violation)) continue;
    Options healthy = options;
    healthy.mutant.clear();
    signal(SIGABRT, [](int) { _exit(EXIT_FAILURE); });  // with the rule, a check that fails is no find
    const bool clean = run(healthy).violation.empty();
    signal(SIGABRT, SIG_DFL);
    if (clean) return true;
  }
  return false;
}

std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Whether two replicas decide differently in one slot. A trace has lines "R decides slot S `COMMAND`"; after a line
// "group ..." it is another group's.
bool disagree(const std::string& trace) {
  std::map<std::string, std::string> decided;
  for (const absl::string_view line : absl::StrSplit(trace, '\n')) {
    if (absl::StartsWith(line, "group ")) decided.clear();
    const std::vector<std::string> words = absl::StrSplit(line, absl::MaxSplits(' ', 4));
    if (words.size() != 5 || words[1] != "decides" || words[2] != "slot") continue;
    if (decided.try_emplace(words[3], words[4]).first->second != words[4]) return true;
  }
  return false;
}

bool found_by_scenario(const Mutant& mutant) {
  const std::string expected =
      read_file(absl::StrCat("tests/replication/agreement/scenarios/", mutant.scenario, ".txt"));
  if (expected.empty() || disagree(expected)) return false;
  left_out = mutant.rule;
  const std::string actual = testing::run_scenario(expected);
  left_out = {};
  return mutant.shows == std::string_view("agreement") ? disagree(actual) : actual != expected;
}

// Runs it in a process of its own: a replica without the rule may fail one of the code's checks, which aborts the
// process and counts as found.
template <typename Found>
bool found_in_child(const Found& found) {
  std::fflush(nullptr);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    signal(SIGABRT, SIG_DFL);
    _exit(found() ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGABRT;
  return WEXITSTATUS(status) == EXIT_SUCCESS;
}

TEST_CASE("a rule that is left out is found within its number of seeds") {
  const bool all = std::getenv("INGOT_ALL_MUTANTS") != nullptr;
  testing::drawn_seed();  // prints it
  for (const Mutant& mutant : all_mutants()) {
    if (mutant.one_in == 0 || (mutant.one_in > kOneInMost && !all)) continue;
    INFO(mutant.rule << ": " << mutant.without);
    CHECK(found_in_child([&] { return found_by_seeds(mutant); }));
  }
}

TEST_CASE("a rule that is left out is found by its scenario") {
  for (const Mutant& mutant : all_mutants()) {
    if (*mutant.scenario == 0) continue;
    INFO(mutant.rule << ": " << mutant.scenario);
    CHECK(found_in_child([&] { return found_by_scenario(mutant); }));
  }
}

TEST_CASE("each rule that is left out is found in each run, by seeds or by a scenario") {
  for (const Mutant& mutant : all_mutants()) {
    INFO(mutant.rule);
    CHECK(((mutant.one_in > 0 && mutant.one_in <= kOneInMost) || *mutant.scenario != 0));
  }
}

TEST_CASE("docs/simulation.md has a row for each mutant") {
  INFO("It should hold\n" << table_of_mutants());
  CHECK(read_file("docs/simulation.md").find(table_of_mutants()) != std::string::npos);
}

TEST_CASE("a failing seed is cut to a shorter one that fails") {
  Options options = options_of(*find_mutant("one-slot-each"));
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
