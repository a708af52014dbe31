// bench/slow_learner: the cost to the group when a replica that neither leads nor accepts stops or is slow: none with
// 1Paxos, a standstill with two-phase commit.
//
// Each turn measures commands applied a second by an undisturbed group, then, for twice as long, with one learner
// stopped (SIGSTOP) or slow (stopped for nine of every ten milliseconds), then undisturbed again. A slow drift cancels
// out in each turn's ratio, and the ratio of the two undisturbed phases is the noise. Counted on the other replicas'
// pages. Flags and output only; the rest is in slow_learner_turn.cc.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"
#include "bench/slow_learner_turn.h"
#include "bench/statistics.h"
#include "services/cli/cli.h"
#include "services/cli/duration.h"
#include "services/cli/table.h"

namespace {

using namespace ingot;
using namespace ingot::bench;

struct Flags {
  LearnerGroup::Options group;
  std::vector<std::string> agreements = {"1paxos", "multipaxos", "2pc"};
  std::vector<std::string> troubles = {"stop", "slow"};
  int turns = 15;
  std::chrono::nanoseconds phase = std::chrono::seconds(2);
  std::string output = "table";
};

void add_flags(CLI::App& app, Flags& flags) {
  const std::string own_path = std::filesystem::read_symlink("/proc/self/exe").string();
  flags.group.ingotd = own_path.substr(0, own_path.rfind("/bench/")) + "/services/ingotd/ingotd";
  app.add_option("--ingotd", flags.group.ingotd, "path of ingotd; default: beside this program");
  app.add_option("--daemon-flag", flags.group.flags, "one for ingotd, such as --daemon-flag=--transport=srbp");
  app.add_option("--agreements", flags.agreements, "how replicas agree")
      ->delimiter(',')
      ->check(one_of({"1paxos", "multipaxos", "2pc"}))
      ->capture_default_str();
  app.add_option("--troubles", flags.troubles, "stop: not at all; slow: a tenth of the time")
      ->delimiter(',')
      ->check(one_of({"stop", "slow"}))
      ->capture_default_str();
  app.add_option("--replicas", flags.group.replicas, "of ingotd")->check(CLI::Range(3, 7))->capture_default_str();
  app.add_option("--clients", flags.group.clients, "that put all the time")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--turns", flags.turns, "of a phase without trouble, two with, one without")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_duration(app, "--phase", flags.phase, "how long one phase is");
  app.add_option("-o,--output", flags.output, "table or json (one object per line)")
      ->check(one_of({"table", "json"}))
      ->capture_default_str();
}

struct Outcome {
  std::string agreement, trouble;
  std::vector<Turn> turns;

  template <typename Value>
  std::vector<double> each(Value value) const {
    std::vector<double> values;
    for (const Turn& turn : turns) values.push_back(value(turn));
    return values;
  }
  Quantiles whole() const { return quantiles_of(each([](const Turn& t) { return t.whole_per_s(); })); }
  Quantiles troubled() const { return quantiles_of(each([](const Turn& t) { return t.troubled.per_s; })); }
  Quantiles ratio() const {
    return quantiles_of(each([](const Turn& t) { return t.troubled.per_s / t.whole_per_s(); }));
  }
  Quantiles ratio_to_before() const {
    return quantiles_of(each([](const Turn& t) { return t.troubled.per_s / t.before.per_s; }));
  }
  // The noise: the ratio of two undisturbed phases, from which other ratios must differ clearly. A median off 1 shows
  // an after-effect of the fault; then the ratio to the phase before is the better one.
  Quantiles noise() const { return quantiles_of(each([](const Turn& t) { return t.after.per_s / t.before.per_s; })); }
};

void print_json(const Flags& flags, const Outcome& outcome) {
  nlohmann::ordered_json object = {{"benchmark", "slow_learner"}, {"agreement", outcome.agreement},
                                   {"trouble", outcome.trouble},  {"replicas", flags.group.replicas},
                                   {"clients", flags.group.clients},    {"turns", outcome.turns.size()}};
  add(object, "whole_per_s", outcome.whole());
  add(object, "troubled_per_s", outcome.troubled());
  add(object, "ratio", outcome.ratio());
  add(object, "ratio_to_before", outcome.ratio_to_before());
  add(object, "noise", outcome.noise());
  add(object, "whole_snapshots_per_s", quantiles_of(outcome.each([](const Turn& t) {
        return (t.before.snapshots_per_s + t.after.snapshots_per_s) / 2;
      })));
  add(object, "troubled_snapshots_per_s",
      quantiles_of(outcome.each([](const Turn& t) { return t.troubled.snapshots_per_s; })));
  object["bin_ms"] = kBin.count();
  object["troubled_from_bin"] = outcome.turns.front().troubled_from;
  std::vector<std::int64_t> bins;
  for (const double bin : outcome.turns.front().bins_per_s) bins.push_back(std::lround(bin));
  object["bins_per_s"] = bins;
  std::cout << object.dump() << std::endl;
}

absl::StatusOr<Outcome> measure(const Flags& flags, LearnerGroup& group, Outcome outcome) {
  for (int i = 0; i < flags.turns; ++i) {
    const auto turn = group.turn(outcome.trouble, flags.phase);
    if (!turn.ok()) return turn.status();
    outcome.turns.push_back(*turn);
    std::fprintf(stderr, "%s, learner: %s, %d/%d: %.0f/s, then %.0f/s, then %.0f/s; snapshots %.1f, %.1f, %.1f /s\n",
                 outcome.agreement.c_str(), outcome.trouble.c_str(), i + 1, flags.turns, turn->before.per_s,
                 turn->troubled.per_s, turn->after.per_s, turn->before.snapshots_per_s, turn->troubled.snapshots_per_s,
                 turn->after.snapshots_per_s);
  }
  return outcome;
}

absl::Status run(const Flags& flags) {
  const auto right = Table::Align::kRight;
  Table table({{"agreement"},
               {"learner"},
               {"whole group per s", right},
               {"with trouble per s", right},
               {"ratio", right},
               {"to before", right},
               {"whole to whole", right}});
  for (const std::string& agreement : flags.agreements) {
    auto group = LearnerGroup::start(flags.group, agreement);
    if (!group.ok()) return group.status();
    for (const std::string& trouble : flags.troubles) {
      const auto outcome = measure(flags, **group, Outcome{agreement, trouble, {}});
      if (!outcome.ok()) return outcome.status();
      if (flags.output == "json") print_json(flags, *outcome);
      table.add_row({agreement, trouble, cell(outcome->whole(), 0), cell(outcome->troubled(), 0),
                     cell(outcome->ratio(), 3), cell(outcome->ratio_to_before(), 3), cell(outcome->noise(), 3)});
    }
  }
  if (flags.output == "table") table.print(std::cout);
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("What a replica without a role costs the others when it stops or is slow.");
  Flags flags;
  add_flags(app, flags);
  return run_cli(app, argc, argv, [&] { return run(flags); });
}
