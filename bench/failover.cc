// bench/failover: the longest time without a commit after the leader, the acceptor or both are killed or stopped under
// load. Flags and output only; the rest is in failover_trial.cc.
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
  int failed = 0;  // trials without a result
};

int attempts(const Case& each) { return static_cast<int>(each.trials.size()) + each.failed; }

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
              {"look", &Failover::poll}};

double round3(double value) { return std::round(value * 1000) / 1000; }

double most(const Case& each, double Failover::*which) {
  const auto values = field(each, which);
  return *std::max_element(values.begin(), values.end());
}

void print_json(const Flags& flags, const Case& each) {
  nlohmann::ordered_json object = {{"benchmark", "failover"},
                                   {"replicas", each.replicas},
                                   {"trouble", each.trouble},
                                   {"target", each.target},
                                   {"state_mib", flags.daemon.state_mib},
                                   {"clients", flags.daemon.clients},
                                   {"trials", each.trials.size()},
                                   {"failed", each.failed}};
  if (!each.trials.empty()) {
    for (const auto& step : kSteps) {
      const std::string name = absl::StrCat(step.name, "_ms");
      add(object, name, quantiles_of(field(each, step.which)));
      object[name + "_max"] = round3(most(each, step.which));
    }
    object["store_mib_max"] = round3(most(each, &Failover::store_mib));
    std::vector<double> all;  // in the order of the trials, which shows a drift
    for (const double value : field(each, &Failover::committed)) all.push_back(round3(value));
    object["committed_ms"] = all;
  }
  std::cout << object.dump() << std::endl;
}

void add_row(Table& table, const Case& each) {
  std::vector<std::string> row = {absl::StrCat(each.replicas), each.trouble, each.target,
                                  absl::StrCat(each.trials.size()), absl::StrCat(each.failed)};
  const bool any = !each.trials.empty();
  for (const auto which : {&Failover::marked, &Failover::reported, &Failover::changed}) {
    row.push_back(any ? absl::StrFormat("%.2f", quantiles_of(field(each, which)).median) : "-");
  }
  for (const auto which : {&Failover::committed, &Failover::acknowledged, &Failover::stalled}) {
    row.push_back(any ? cell(quantiles_of(field(each, which)), 2) : "-");
    row.push_back(any ? absl::StrFormat("%.2f", most(each, which)) : "-");
  }
  row.push_back(any ? absl::StrFormat("%.1f", most(each, &Failover::store_mib)) : "-");
  table.add_row(row);
}

// The trials with one number of replicas and one kind of fault. Targets take turns, so that a drift affects all of
// them; with kills they share a daemon.
class Series {
 public:
  Series(const Flags& flags, std::vector<Case> cases) : flags_(flags), cases_(std::move(cases)) {}

  const std::vector<Case>& run() {
    for (int i = 0; i < flags_.trials; ++i) {
      for (Case& each : cases_) {
        if (failed_in_a_row_ < kFailedInARowMax) trial(each);
        else ++each.failed;
      }
    }
    return cases_;
  }

 private:
  static constexpr int kFailedInARowMax = 5;  // then the series is given up

  void trial(Case& each) {
    const auto result = fail(each);
    std::fprintf(stderr, "%d replicas, %s %s, %d/%d: ", each.replicas, each.trouble.c_str(), each.target.c_str(),
                 attempts(each) + 1, flags_.trials);
    if (!result.ok()) {
      std::fprintf(stderr, "FAILED: %s\n", std::string(result.status().message()).c_str());
      ++each.failed;
      ++failed_in_a_row_;
      daemon_.reset();
      return;
    }
    std::fprintf(stderr, "marked %.2f, reported %.2f, changed %.2f, committed %.2f, stalled %.2f ms; %.1f MiB\n",
                 result->marked, result->reported, result->changed, result->committed, result->stalled,
                 result->store_mib);
    each.trials.push_back(*result);
    failed_in_a_row_ = 0;
    // A process that was stopped shortly before is not doubted for it, so each stop gets a new daemon.
    if (each.trouble == "stop" || !daemon_->refills()) daemon_.reset();
  }

  absl::StatusOr<Failover> fail(const Case& each) {
    if (daemon_ == nullptr) {
      FailoverDaemon::Options options = flags_.daemon;
      options.replicas = each.replicas;
      auto started = FailoverDaemon::start(options);
      if (!started.ok()) return started.status();
      daemon_ = *std::move(started);
    }
    const Target target = each.target == "leader"     ? Target::kLeader
                          : each.target == "acceptor" ? Target::kAcceptor
                                                      : Target::kBoth;
    return daemon_->fail(each.trouble == "kill" ? Trouble::kKill : Trouble::kStop, target);
  }

  const Flags& flags_;
  std::vector<Case> cases_;
  std::unique_ptr<FailoverDaemon> daemon_;
  int failed_in_a_row_ = 0;
};

Table new_table() {
  const auto right = Table::Align::kRight;
  return Table({{"replicas", right},
                {"trouble"},
                {"target"},
                {"trials", right},
                {"failed", right},
                {"marked ms", right},
                {"reported ms", right},
                {"changed ms", right},
                {"committed ms", right},
                {"max", right},
                {"acknowledged ms", right},
                {"max", right},
                {"stalled ms", right},
                {"max", right},
                {"store MiB", right}});
}

absl::Status run(const Flags& flags) {
  Table table = new_table();
  int failed = 0, all = 0;
  for (const int replicas : flags.replicas) {
    for (const std::string& trouble : flags.troubles) {
      std::vector<Case> cases;
      for (const std::string& target : flags.targets) {
        if (trouble == "stop" && target == "both") continue;  // blocked until one of the two is continued
        cases.push_back(Case{replicas, trouble, target, {}});
      }
      Series series(flags, std::move(cases));
      for (const Case& each : series.run()) {
        if (flags.output == "json") print_json(flags, each);
        add_row(table, each);
        failed += each.failed;
        all += attempts(each);
      }
    }
  }
  if (flags.output == "table") table.print(std::cout);
  if (failed > 0) return absl::DeadlineExceededError(absl::StrCat(failed, " of ", all, " trials failed"));
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("How long nothing is committed when the leader, the acceptor or both are killed or stopped under load.");
  Flags flags;
  add_flags(app, flags);
  return run_cli(app, argc, argv, [&] { return run(flags); });
}
