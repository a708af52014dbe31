// Runs whole groups, clients included, in virtual time, one for each seed, and reports what the checkers find.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/limits.h"
#include "core/rule.h"
#include "services/cli/cli.h"
#include "tests/simulation/mutants.h"
#include "tests/simulation/report.h"
#include "tests/simulation/shrink.h"
#include "tests/simulation/sweep.h"

namespace ingot::simulation {
namespace {

constexpr bool kMutable = !INGOT_CONSTANT_RULES;
constexpr std::int64_t kJobsMax = 256;
constexpr std::int64_t kSeedMax = std::int64_t{1} << 62;

struct Flags {
  Options options;
  std::int64_t seed = 1;
  std::int64_t count = 1000;
  int voters = 0;  // 0: the default for the number of replicas
  int jobs = 1;
  int failures = 1;
  std::string output = "text";
  bool no_kills = false;
  bool list_mutants = false;
};

void add_flags(CLI::App& app, Flags& flags) {
  app.add_option("--seed", flags.seed, "the first seed")->check(whole_number(0, kSeedMax))->capture_default_str();
  app.add_option("--count", flags.count, "how many seeds")->check(whole_number(1, kSeedMax))->capture_default_str();
  app.add_option("--agreement", flags.options.agreement, "1paxos, multipaxos or 2pc")
      ->check(one_of({"1paxos", "multipaxos", "2pc"}))
      ->capture_default_str();
  app.add_option("--replicas", flags.options.replicas, "copies of the state")
      ->check(whole_number(1, kReplicasMax))
      ->capture_default_str();
  app.add_option("--voters", flags.voters, "replicas that lead, accept and vote; default: all, but at most 5")
      ->check(whole_number(1, kVotersMax));
  app.add_option("--jobs", flags.jobs, "threads")->check(whole_number(1, kJobsMax))->capture_default_str();
  app.add_option("--failures", flags.failures, "violations after which to stop")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--mutant", flags.options.mutant, "a rule to leave out: --list-mutants names them");
  app.add_option("--faults", flags.options.faults_max, "no more than so many of each seed's faults")
      ->check(whole_number(0, 1'000'000));
  app.add_option("--writes", flags.options.writes_max, "no more than so many of each seed's writes")
      ->check(whole_number(0, 1'000'000));
  app.add_flag("--no-kills", flags.no_kills, "replicas are stopped instead of killed");
  app.add_flag("--trace", flags.options.trace, "print every step of the first seed");
  app.add_flag("--list-mutants", flags.list_mutants, "name the rules that can be left out, and leave");
  app.add_option("-o,--output", flags.output, "text or json")->check(one_of({"text", "json"}))->capture_default_str();
}

absl::Status complete(Flags& flags) {
  Options& options = flags.options;
  options.seed = static_cast<std::uint64_t>(flags.seed);
  options.kills = !flags.no_kills;
  options.voters = flags.voters > 0 ? flags.voters : std::min(options.replicas, kVotersDefault);
  if (options.voters > options.replicas) {
    return absl::InvalidArgumentError(absl::StrCat("--voters=", options.voters, " is more than --replicas=",
                                                   options.replicas, "; voters are replicas"));
  }
  if (options.mutant.empty()) return absl::OkStatus();
  if (find_mutant(options.mutant) == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("--mutant=", options.mutant, " is no rule that can be left out; --list-mutants names them"));
  }
  if (!kMutable) {
    return absl::InvalidArgumentError("--mutant is for simulate_mutants: here no rule can be left out");
  }
  return absl::OkStatus();
}

void list_mutants() {
  for (const Mutant& mutant : all_mutants()) {
    const std::string found = mutant.one_in == 0
                                  ? absl::StrCat("scenario ", mutant.scenario)
                                  : absl::StrCat(mutant.checkers, " within ", mutant.seeds(), " seeds");
    std::printf("%-22s %s (%s with %d replicas: %s)\n", mutant.rule, mutant.without, mutant.agreement,
                mutant.replicas, found.c_str());
  }
}

void print_trace(const Outcome& outcome) {
  for (const std::string& line : outcome.trace) std::printf("%s\n", line.c_str());
}

// Reports the seed, its shortest prefix that fails, and the trace of that prefix.
void explain(Options options, const Failure& failure) {
  options.seed = failure.seed;
  std::printf("VIOLATION with seed %llu: %s\n  %s\n", static_cast<unsigned long long>(failure.seed),
              failure.violation.c_str(), command_line(options).c_str());
  const Shrunk shrunk = shrink(options);
  print_trace(shrunk.outcome);
  std::printf("The shortest prefix of seed %llu that fails:\n  %s\n", static_cast<unsigned long long>(failure.seed),
              command_line(shrunk.options).c_str());
  const Plan plan(shrunk.options);
  for (const Fault& fault : plan.faults) std::printf("  fault: %s\n", describe(fault).c_str());
  std::printf("  %d writes\n  %s\n", plan.writes, shrunk.outcome.violation.c_str());
}

absl::Status run_flags(Flags& flags) {
  if (flags.list_mutants) {
    list_mutants();
    return absl::OkStatus();
  }
  if (absl::Status status = complete(flags); !status.ok()) return status;
  const bool json = flags.output == "json";
  if (flags.options.trace && !json) print_trace(run(flags.options));
  Options untraced = flags.options;
  untraced.trace = false;
  const SweepResult result =
      sweep(untraced, static_cast<std::uint64_t>(flags.count), flags.jobs, static_cast<std::size_t>(flags.failures));
  std::fputs((json ? as_json(untraced, result) : as_text(untraced, result)).c_str(), stdout);
  if (result.failures.empty()) return absl::OkStatus();
  if (!json) explain(untraced, result.failures.front());
  return absl::UnknownError("");  // reported above; the exit code is 1
}

}  // namespace
}  // namespace ingot::simulation

int main(int argc, char** argv) {
  CLI::App app("Simulates groups of replicas with their clients and faults, one group for each seed.");
  ingot::simulation::Flags flags;
  ingot::simulation::add_flags(app, flags);
  return ingot::run_cli(app, argc, argv, [&] { return ingot::simulation::run_flags(flags); });
}
