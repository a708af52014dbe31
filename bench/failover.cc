// bench/failover: how long nothing is committed when the leader, the acceptor or both are killed or stopped under load.
// Flags and output only; the rest is in failover_trial.cc.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/failover_trial.h"
#include "bench/statistics.h"
#include "services/cli/cli.h"
#include "services/cli/table.h"

namespace {

using namespace ingot;
using namespace ingot::bench;

struct Flags {
  FailoverDaemon::Options daemon;
  std::vector<int> replicas = {3, 5};
  std::vector<std::string> troubles = {"kill", "stop"};
  std::vector<std::string> targets = {"leader", "acceptor", "both"};
  int trials = 5;
  std::string output = "table";
};

void add_flags(CLI::App& app, Flags& flags) {
  const std::string own_path = std::filesystem::read_symlink("/proc/self/exe").string();
  flags.daemon.ingotd = own_path.substr(0, own_path.rfind("/bench/")) + "/services/ingotd/ingotd";
  app.add_option("--ingotd", flags.daemon.ingotd, "path of ingotd; default: beside this program");
  app.add_option("--daemon-flag", flags.daemon.flags, "one for ingotd, such as --daemon-flag=--agreement=multipaxos");
  app.add_option("--replicas", flags.replicas, "of ingotd")
      ->delimiter(',')
      ->check(CLI::Range(3, 48))
      ->capture_default_str();
  app.add_option("--troubles", flags.troubles, "kill: SIGKILL; stop: SIGSTOP")
      ->delimiter(',')
      ->check(one_of({"kill", "stop"}))
      ->capture_default_str();
  app.add_option("--targets", flags.targets, "who is hit")
      ->delimiter(',')
      ->check(one_of({"leader", "acceptor", "both"}))
      ->capture_default_str();
  app.add_option("--trials", flags.trials, "of each kind")->check(CLI::Range(1, 10000))->capture_default_str();
  app.add_option("--state-mib", flags.daemon.state_mib, "values to fill the store with first")
      ->check(CLI::Range(0, 16384))
      ->capture_default_str();
  app.add_option("--clients", flags.daemon.clients, "that put all the time, each one request at a time")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("-o,--output", flags.output, "table or json (one object per line)")
      ->check(one_of({"table", "json"}))
      ->capture_default_str();
}

struct Case {
  int replicas = 3;
  std::string trouble, target;
  std::vector<Failover> trials;
};

std::vector<double> field(const Case& each, double Failover::*which) {
  std::vector<double> values;
  for (const Failover& trial : each.trials) values.push_back(trial.*which);
  return values;
}

constexpr struct {
  const char* name;
  double Failover::*which;
} kSteps[] = {{"marked", &Failover::marked},       {"reported", &Failover::reported},
              {"changed", &Failover::changed},     {"committed", &Failover::committed},
              {"acknowledged", &Failover::acknowledged}, {"stalled", &Failover::stalled},
              {"look", &Failover::look}};

void print_json(const Flags& flags, const Case& each) {
  nlohmann::ordered_json object = {{"benchmark", "failover"},       {"replicas", each.replicas},
                                   {"trouble", each.trouble},       {"target", each.target},
                                   {"state_mib", flags.daemon.state_mib}, {"clients", flags.daemon.clients},
                                   {"trials", each.trials.size()}};
  for (const auto& step : kSteps) {
    const auto values = field(each, step.which);
    const std::string name = absl::StrCat(step.name, "_ms");
    add(object, name, quantiles_of(values));
    object[name + "_max"] = std::round(*std::max_element(values.begin(), values.end()) * 1000) / 1000;
  }
  std::cout << object.dump() << std::endl;
}

void add_row(Table& table, const Case& each) {
  const auto most = [&](double Failover::*which) {
    const auto values = field(each, which);
    return absl::StrFormat("%.2f", *std::max_element(values.begin(), values.end()));
  };
  const auto middle = [&](double Failover::*which) { return absl::StrFormat("%.2f", quantiles_of(field(each, which)).median); };
  table.add_row({absl::StrCat(each.replicas), each.trouble, each.target, absl::StrCat(each.trials.size()),
                 middle(&Failover::marked), middle(&Failover::reported), middle(&Failover::changed),
                 cell(quantiles_of(field(each, &Failover::committed)), 2), most(&Failover::committed),
                 middle(&Failover::acknowledged), most(&Failover::acknowledged), middle(&Failover::stalled),
                 most(&Failover::stalled)});
}

absl::StatusOr<Case> measure(const Flags& flags, Case each) {
  const Trouble trouble = each.trouble == "kill" ? Trouble::kKill : Trouble::kStop;
  const Target target = each.target == "leader"     ? Target::kLeader
                        : each.target == "acceptor" ? Target::kAcceptor
                                                    : Target::kBoth;
  FailoverDaemon::Options options = flags.daemon;
  options.replicas = each.replicas;
  std::unique_ptr<FailoverDaemon> daemon;
  while (static_cast<int>(each.trials.size()) < flags.trials) {
    if (daemon == nullptr) {
      auto started = FailoverDaemon::start(options);
      if (!started.ok()) return started.status();
      daemon = *std::move(started);
    }
    const auto result = daemon->fail(trouble, target);
    if (!result.ok()) {
      return absl::Status(result.status().code(), absl::StrCat(each.replicas, " replicas, ", each.trouble, " ",
                                                               each.target, ": ", result.status().message()));
    }
    each.trials.push_back(*result);
    std::fprintf(stderr, "%d replicas, %s %s, %zu/%d: marked %.2f, reported %.2f, changed %.2f, committed %.2f ms\n",
                 each.replicas, each.trouble.c_str(), each.target.c_str(), each.trials.size(), flags.trials,
                 result->marked, result->reported, result->changed, result->committed);
    // A role that moved though nobody died makes the group slower to suspect: each stop meets a new one.
    if (trouble == Trouble::kStop || !daemon->refills()) daemon.reset();
  }
  return each;
}

absl::Status run(const Flags& flags) {
  const auto right = Table::Align::kRight;
  Table table({{"replicas", right},
               {"trouble"},
               {"target"},
               {"trials", right},
               {"marked ms", right},
               {"reported ms", right},
               {"changed ms", right},
               {"committed ms", right},
               {"max", right},
               {"acknowledged ms", right},
               {"max", right},
               {"stalled ms", right},
               {"max", right}});
  for (const int replicas : flags.replicas) {
    for (const std::string& trouble : flags.troubles) {
      for (const std::string& target : flags.targets) {
        if (trouble == "stop" && target == "both") continue;  // blocked, until one of the two goes on
        const auto result = measure(flags, Case{replicas, trouble, target, {}});
        if (!result.ok()) return result.status();
        if (flags.output == "json") print_json(flags, *result);
        add_row(table, *result);
      }
    }
  }
  if (flags.output == "table") table.print(std::cout);
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("How long nothing is committed when the leader, the acceptor or both are killed or stopped under load.");
  Flags flags;
  add_flags(app, flags);
  return run_cli(app, argc, argv, [&] { return run(flags); });
}
