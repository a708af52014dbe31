// bench/trees: groups of many replicas on few cores, with broadcasts by star or by tree, in turns in one run: messages
// handled by the busiest replica per commit, commits and commands per second, processor time per commit.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/tree_group.h"
#include "core/limits.h"
#include "core/planning/topology.h"
#include "services/cli/cli.h"
#include "services/cli/duration.h"
#include "services/cli/table.h"

namespace {

using namespace ingot;
using namespace ingot::bench;

struct Flags {
  std::vector<int> replicas = {24, 48};
  std::vector<std::string> trees = {"best"};
  std::vector<int> in_flight = {1, 64};
  std::vector<std::string> loops = {"each", "core"};
  std::string agreement = "1paxos";
  std::string transport = "nvp";
  int cores = 2;
  int repetitions = 11;
  int value_bytes = 16;
  std::chrono::nanoseconds duration = std::chrono::milliseconds(300);
  std::string output = "table";
};

// The results of one turn of one group.
struct Sample {
  double busiest = 0;       // messages that the busiest replica handled per commit
  double all = 0;           // messages that all replicas handled per commit
  double commits_per_s = 0;
  double commands_per_s = 0;
  double cpu_us = 0;        // of this process, per commit
};

struct Quantiles {
  double median = 0, p25 = 0, p75 = 0;
};

Quantiles quantiles_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(std::lround(share * (values.size() - 1)))];
  };
  return {at(0.5), at(0.25), at(0.75)};
}

double process_cpu_s() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Sample measure(TreeGroup& group, int in_flight, std::chrono::nanoseconds duration) {
  group.keep_in_flight(in_flight);
  std::this_thread::sleep_for(duration / 10);
  const TreeGroupTotals before = group.totals();
  const double cpu_before = process_cpu_s();
  const auto start = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(duration);
  const TreeGroupTotals after = group.totals();
  const double cpu = process_cpu_s() - cpu_before;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  group.keep_in_flight(0);
  const double commits = std::max<double>(1, static_cast<double>(after.commits - before.commits));
  Sample sample;
  for (std::size_t id = 0; id < after.handled.size(); ++id) {
    const double handled = static_cast<double>(after.handled[id] - before.handled[id]) / commits;
    sample.busiest = std::max(sample.busiest, handled);
    sample.all += handled;
  }
  sample.commits_per_s = commits / seconds;
  sample.commands_per_s = static_cast<double>(after.answered - before.answered) / seconds;
  sample.cpu_us = 1e6 * cpu / commits;
  return sample;
}

struct Setting {
  int replicas;
  bool loop_each;
  int in_flight;
};

std::vector<double> column(const std::vector<Sample>& samples, double Sample::*field) {
  std::vector<double> values;
  for (const Sample& sample : samples) values.push_back(sample.*field);
  return values;
}

// Ratios pair by pair, so that disturbances of both cancel out.
std::vector<double> ratios(const std::vector<Sample>& samples, const std::vector<Sample>& stars,
                           double Sample::*field) {
  std::vector<double> values;
  for (std::size_t i = 0; i < samples.size(); ++i) values.push_back(samples[i].*field / (stars[i].*field));
  return values;
}

std::string cell(const Quantiles& q, int digits) {
  return absl::StrFormat("%.*f (%.*f to %.*f)", digits, q.median, digits, q.p25, digits, q.p75);
}

void add(nlohmann::ordered_json& object, const std::string& name, const Quantiles& q) {
  const auto round = [](double v) { return std::round(v * 1000) / 1000; };
  object[name] = {{"median", round(q.median)}, {"p25", round(q.p25)}, {"p75", round(q.p75)}};
}

void report(const Flags& flags, const Setting& setting, const std::string& tree, const std::vector<Sample>& samples,
            const std::vector<Sample>& stars, Table& table) {
  const Quantiles busiest = quantiles_of(column(samples, &Sample::busiest));
  const Quantiles commits = quantiles_of(column(samples, &Sample::commits_per_s));
  const Quantiles commands = quantiles_of(column(samples, &Sample::commands_per_s));
  const Quantiles cpu = quantiles_of(column(samples, &Sample::cpu_us));
  const Quantiles commits_ratio = quantiles_of(ratios(samples, stars, &Sample::commits_per_s));
  const Quantiles commands_ratio = quantiles_of(ratios(samples, stars, &Sample::commands_per_s));
  const Quantiles cpu_ratio = quantiles_of(ratios(samples, stars, &Sample::cpu_us));
  table.add_row({absl::StrCat(setting.replicas), setting.loop_each ? "each" : "core", absl::StrCat(setting.in_flight),
                 tree, absl::StrFormat("%.1f", busiest.median), cell(commits, 0), cell(commits_ratio, 2),
                 cell(commands_ratio, 2), cell(cpu, 0), cell(cpu_ratio, 2)});
  if (flags.output != "json") return;
  nlohmann::ordered_json object = {{"benchmark", "trees"},         {"replicas", setting.replicas},
                                   {"loops", setting.loop_each ? "each" : "core"},
                                   {"in_flight", setting.in_flight}, {"tree", tree},
                                   {"agreement", flags.agreement}, {"transport", flags.transport},
                                   {"cores", flags.cores},         {"repetitions", flags.repetitions}};
  add(object, "busiest_messages_per_commit", busiest);
  add(object, "all_messages_per_commit", quantiles_of(column(samples, &Sample::all)));
  add(object, "commits_per_s", commits);
  add(object, "commands_per_s", commands);
  add(object, "cpu_us_per_commit", cpu);
  add(object, "commits_ratio_to_star", commits_ratio);
  add(object, "commands_ratio_to_star", commands_ratio);
  add(object, "cpu_ratio_to_star", cpu_ratio);
  std::cout << object.dump() << std::endl;
}

absl::Status run_setting(const Flags& flags, const std::vector<CoreId>& cores, int replicas, bool loop_each,
                         Table& table) {
  std::vector<std::string> trees = flags.trees;
  trees.insert(trees.begin(), "star");
  std::vector<std::unique_ptr<TreeGroup>> groups;
  for (const std::string& tree : trees) {
    TreeGroupOptions options{tree, flags.agreement, flags.transport, replicas, loop_each, cores, flags.value_bytes};
    groups.push_back(std::make_unique<TreeGroup>(options));
  }
  for (const int in_flight : flags.in_flight) {
    std::fprintf(stderr, "%d replicas, a loop for each %s, %d in flight\n", replicas, loop_each ? "replica" : "core",
                 in_flight);
    std::vector<std::vector<Sample>> samples(trees.size());
    for (auto& group : groups) measure(*group, in_flight, flags.duration / 2);  // warm-up
    for (int i = 0; i < flags.repetitions; ++i) {
      for (std::size_t j = 0; j < trees.size(); ++j) {
        const std::size_t which = i % 2 == 0 ? j : trees.size() - 1 - j;
        samples[which].push_back(measure(*groups[which], in_flight, flags.duration));
      }
    }
    for (std::size_t j = 0; j < trees.size(); ++j) {
      report(flags, {replicas, loop_each, in_flight}, trees[j], samples[j], samples[0], table);
    }
  }
  for (std::size_t j = 0; j < trees.size(); ++j) {
    if (!groups[j]->digests_agree()) return absl::InternalError(absl::StrCat("replicas differ with ", trees[j]));
  }
  return absl::OkStatus();
}

absl::Status run(const Flags& flags) {
  auto topology = this_machine();
  if (!topology.ok()) return topology.status();
  std::vector<CoreId> cores;
  for (const CoreInfo& core : topology->cores) cores.push_back(core.id);
  if (static_cast<int>(cores.size()) < flags.cores) {
    return absl::InvalidArgumentError(absl::StrCat("--cores=", flags.cores, ", but there are only ", cores.size()));
  }
  cores.resize(static_cast<std::size_t>(flags.cores));
  const auto shapes = tree_shapes();
  for (const std::string& tree : flags.trees) {
    if (std::find(shapes.begin(), shapes.end(), tree) != shapes.end()) continue;
    return absl::InvalidArgumentError(absl::StrCat("--trees: ", tree, " is no tree; give ",
                                                   join_or(std::vector<std::string>(shapes.begin(), shapes.end()))));
  }
  const auto right = Table::Align::kRight;
  Table table({{"replicas", right},
               {"loops"},
               {"in flight", right},
               {"tree"},
               {"busiest", right},
               {"commits per s", right},
               {"to star", right},
               {"commands to star", right},
               {"cpu us per commit", right},
               {"to star", right}});
  for (const int replicas : flags.replicas) {
    for (const std::string& loops : flags.loops) {
      absl::Status status = run_setting(flags, cores, replicas, loops == "each", table);
      if (!status.ok()) return status;
    }
  }
  if (flags.output == "table") {
    std::cout << "Medians (quartiles); busiest: messages that the busiest replica handles per commit.\n\n";
    table.print(std::cout);
  }
  return absl::OkStatus();
}

void add_flags(CLI::App& app, Flags& flags) {
  app.add_option("--replicas", flags.replicas, "sizes of group")->delimiter(',')->check(whole_number(3, kReplicasMax));
  app.add_option("--trees", flags.trees, "shapes to compare with the star")->delimiter(',')->capture_default_str();
  app.add_option("--in-flight", flags.in_flight, "puts that the client keeps in flight")
      ->delimiter(',')
      ->check(whole_number(1, 4096));
  app.add_option("--loops", flags.loops, "a loop (and thread) for each replica, or one for each core: each, core")
      ->delimiter(',')
      ->check(one_of({"each", "core"}));
  app.add_option("--agreement", flags.agreement, "1paxos, multipaxos or 2pc")
      ->check(one_of({"1paxos", "multipaxos", "2pc"}))
      ->capture_default_str();
  app.add_option("--transport", flags.transport, "nvp or srbp")->check(one_of({"nvp", "srbp"}))->capture_default_str();
  app.add_option("--cores", flags.cores, "that the replicas take in turns; the client has the last")
      ->check(whole_number(1, 1024))
      ->capture_default_str();
  app.add_option("--repetitions", flags.repetitions, "of each measurement, in turns")
      ->check(whole_number(1, 10'000))
      ->capture_default_str();
  app.add_option("--value-bytes", flags.value_bytes, "of each put")
      ->check(whole_number(0, 4096))
      ->capture_default_str();
  add_duration(app, "--duration", flags.duration, "of one measurement");
  app.add_option("-o,--output", flags.output, "table or json (one object per line)")
      ->check(one_of({"table", "json"}))
      ->capture_default_str();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Many replicas on few cores: broadcasts by star and by tree, in turns.");
  Flags flags;
  add_flags(app, flags);
  return run_cli(app, argc, argv, [&] { return run(flags); });
}
