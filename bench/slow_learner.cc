// bench/slow_learner: what a replica that is neither leader nor acceptor costs the others when it stops or is slow:
// nothing where they agree by 1Paxos, everything by two-phase commit.
//
// In turns in one run: commands applied a second by a whole group, then with one learner stopped (SIGSTOP) or slow
// (stopped for nine of every ten milliseconds). Counted on the pages of the others. Flags and output included.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/child_server.h"
#include "bench/statistics.h"
#include "bench/watched_instance.h"
#include "bench/write_load.h"
#include "services/cli/cli.h"
#include "services/cli/duration.h"
#include "services/cli/table.h"
#include "services/ingot_load/run_state.h"

namespace {

using namespace ingot;
using namespace ingot::bench;
using load::now_ns;
using std::chrono::milliseconds;

constexpr auto kBin = milliseconds(50);  // of the time line
constexpr auto kSlowStopped = milliseconds(9);
constexpr auto kSlowRunning = milliseconds(1);
constexpr auto kSettlePatience = std::chrono::seconds(60);
constexpr std::uint64_t kLagSlots = 64;

struct Flags {
  std::string ingotd;
  std::vector<std::string> agreements = {"1paxos", "multipaxos", "2pc"};
  std::vector<std::string> troubles = {"stop", "slow"};
  std::vector<std::string> daemon_flags;
  int replicas = 3;
  int clients = 8;
  int turns = 5;
  std::chrono::nanoseconds phase = std::chrono::seconds(1);
  std::string output = "table";
};

void add_flags(CLI::App& app, Flags& flags) {
  const std::string own_path = std::filesystem::read_symlink("/proc/self/exe").string();
  flags.ingotd = own_path.substr(0, own_path.rfind("/bench/")) + "/services/ingotd/ingotd";
  app.add_option("--ingotd", flags.ingotd, "path of ingotd; default: beside this program");
  app.add_option("--daemon-flag", flags.daemon_flags, "one for ingotd, such as --daemon-flag=--transport=srbp");
  app.add_option("--agreements", flags.agreements, "how replicas agree")
      ->delimiter(',')
      ->check(one_of({"1paxos", "multipaxos", "2pc"}))
      ->capture_default_str();
  app.add_option("--troubles", flags.troubles, "stop: not at all; slow: a tenth of the time")
      ->delimiter(',')
      ->check(one_of({"stop", "slow"}))
      ->capture_default_str();
  app.add_option("--replicas", flags.replicas, "of ingotd")->check(CLI::Range(3, 7))->capture_default_str();
  app.add_option("--clients", flags.clients, "that put all the time")->check(CLI::Range(1, 64))->capture_default_str();
  app.add_option("--turns", flags.turns, "of a phase without trouble and one with")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_duration(app, "--phase", flags.phase, "how long one phase is");
  app.add_option("-o,--output", flags.output, "table or json (one object per line)")
      ->check(one_of({"table", "json"}))
      ->capture_default_str();
}

// Stops a process, or slows it down, for as long as it lives.
class Trouble {
 public:
  Trouble(const std::string& kind, pid_t pid) : pid_(pid) {
    ::kill(pid_, SIGSTOP);
    if (kind == "slow") thread_.emplace([this] { slow_down(); });
  }
  ~Trouble() {
    over_.store(true);
    if (thread_) thread_->join();
    ::kill(pid_, SIGCONT);
  }

 private:
  void slow_down() {
    while (!over_.load()) {
      ::kill(pid_, SIGSTOP);
      std::this_thread::sleep_for(kSlowStopped);
      ::kill(pid_, SIGCONT);
      std::this_thread::sleep_for(kSlowRunning);
    }
  }

  const pid_t pid_;
  std::atomic<bool> over_{false};
  std::optional<std::thread> thread_;
};

struct Turn {
  double whole_per_s = 0, troubled_per_s = 0;
  std::vector<double> bins_per_s;  // of both phases, one after the other
};

class Group {
 public:
  static absl::StatusOr<std::unique_ptr<Group>> start(const Flags& flags, const std::string& agreement) {
    const auto port = free_port();
    const auto metrics_port = free_port();
    if (!port.ok()) return port.status();
    if (!metrics_port.ok()) return metrics_port.status();
    const std::string endpoint = absl::StrCat("127.0.0.1:", *port);
    const std::string name = absl::StrCat("slow-learner-", ::getpid(), "-", agreement);
    std::vector<std::string> command = {flags.ingotd, "--listen=" + endpoint,
                                        absl::StrCat("--metrics-listen=127.0.0.1:", *metrics_port), "--name=" + name,
                                        absl::StrCat("--replicas=", flags.replicas), "--agreement=" + agreement};
    command.insert(command.end(), flags.daemon_flags.begin(), flags.daemon_flags.end());
    auto server = ChildServer::start(command, endpoint);
    if (!server.ok()) return server.status();
    std::unique_ptr<Group> group(new Group(*std::move(server)));
    group->load_.emplace(endpoint, flags.clients);
    const std::uint64_t end_ns = now_ns() + std::chrono::nanoseconds(kSettlePatience).count();
    absl::StatusOr<WatchedInstance> pages = absl::NotFoundError("");
    while (!(pages = WatchedInstance::attach(group->server_.pid(), name, flags.replicas)).ok() && now_ns() < end_ns) {
      std::this_thread::sleep_for(milliseconds(5));
    }
    if (!pages.ok()) return pages.status();
    group->pages_ = *std::move(pages);
    return group;
  }

  absl::StatusOr<Turn> turn(const std::string& kind, std::chrono::nanoseconds phase) {
    const auto learner = wait_for_learner();
    if (!learner.ok()) return learner.status();
    Turn turn;
    turn.whole_per_s = count(phase, *learner, turn.bins_per_s);
    const Trouble trouble(kind, pages_->pid(*learner));
    turn.troubled_per_s = count(phase, *learner, turn.bins_per_s);
    return turn;
  }

 private:
  explicit Group(ChildServer server) : server_(std::move(server)) {}

  // Somebody without a role, once everybody has caught up.
  absl::StatusOr<int> wait_for_learner() {
    const std::uint64_t end_ns = now_ns() + std::chrono::nanoseconds(kSettlePatience).count();
    while (now_ns() < end_ns) {
      std::this_thread::sleep_for(milliseconds(20));
      const std::uint64_t before = load_->acknowledged();
      int settled = 0;
      for (; settled < 10 && whole(); ++settled) std::this_thread::sleep_for(milliseconds(20));
      if (settled < 10 || load_->acknowledged() == before) continue;
      for (int id = pages_->replicas() - 1; id >= 0; --id) {
        const auto role = static_cast<Role>(pages_->counter(id, ReplicaCounter::kRole));
        if (role == Role::kReplica) return id;
      }
    }
    return absl::DeadlineExceededError("the group did not become whole");
  }

  // In 2PC nobody is the acceptor, so roles are no measure here.
  bool whole() const {
    const std::uint64_t most = pages_->greatest(ReplicaCounter::kAppliedSlots);
    for (int id = 0; id < pages_->replicas(); ++id) {
      if (pages_->state(id) != ProcessState::kUp) return false;
      if (pages_->counter(id, ReplicaCounter::kAppliedSlots) + kLagSlots < most) return false;
    }
    return true;
  }

  std::uint64_t applied_by_others(int learner) const {
    std::uint64_t applied = 0;
    for (int id = 0; id < pages_->replicas(); ++id) {
      if (id != learner) applied = std::max(applied, pages_->counter(id, ReplicaCounter::kAppliedCommands));
    }
    return applied;
  }

  double count(std::chrono::nanoseconds phase, int learner, std::vector<double>& bins_per_s) const {
    const std::uint64_t start_ns = now_ns();
    const std::uint64_t first = applied_by_others(learner);
    std::uint64_t bin_ns = start_ns, bin_first = first;
    while (now_ns() < start_ns + static_cast<std::uint64_t>(phase.count())) {
      std::this_thread::sleep_for(kBin);
      const std::uint64_t now = now_ns(), applied = applied_by_others(learner);
      bins_per_s.push_back(static_cast<double>(applied - bin_first) * 1e9 / static_cast<double>(now - bin_ns));
      bin_ns = now;
      bin_first = applied;
    }
    return static_cast<double>(bin_first - first) * 1e9 / static_cast<double>(bin_ns - start_ns);
  }

  ChildServer server_;
  std::optional<WatchedInstance> pages_;
  std::optional<WriteLoad> load_;
};

struct Outcome {
  std::string agreement, trouble;
  std::vector<double> whole, troubled;
  std::vector<double> bins_per_s;  // of the first turn
};

void print_json(const Flags& flags, const Outcome& outcome) {
  nlohmann::ordered_json object = {{"benchmark", "slow_learner"}, {"agreement", outcome.agreement},
                                   {"trouble", outcome.trouble},  {"replicas", flags.replicas},
                                   {"clients", flags.clients},    {"turns", outcome.whole.size()}};
  add(object, "whole_per_s", quantiles_of(outcome.whole));
  add(object, "troubled_per_s", quantiles_of(outcome.troubled));
  add(object, "ratio", quantiles_of(ratios(outcome.troubled, outcome.whole)));
  object["bin_ms"] = kBin.count();
  std::vector<std::int64_t> bins;
  for (const double bin : outcome.bins_per_s) bins.push_back(std::lround(bin));
  object["bins_per_s"] = bins;
  std::cout << object.dump() << std::endl;
}

absl::StatusOr<Outcome> measure(const Flags& flags, Group& group, Outcome outcome) {
  for (int i = 0; i < flags.turns; ++i) {
    const auto turn = group.turn(outcome.trouble, flags.phase);
    if (!turn.ok()) return turn.status();
    outcome.whole.push_back(turn->whole_per_s);
    outcome.troubled.push_back(turn->troubled_per_s);
    if (i == 0) outcome.bins_per_s = turn->bins_per_s;
    std::fprintf(stderr, "%s, learner: %s, %d/%d: %.0f/s, then %.0f/s\n", outcome.agreement.c_str(),
                 outcome.trouble.c_str(), i + 1, flags.turns, turn->whole_per_s, turn->troubled_per_s);
  }
  return outcome;
}

absl::Status run(const Flags& flags) {
  const auto right = Table::Align::kRight;
  Table table({{"agreement"}, {"learner"}, {"whole group per s", right}, {"with trouble per s", right}, {"ratio", right}});
  for (const std::string& agreement : flags.agreements) {
    auto group = Group::start(flags, agreement);
    if (!group.ok()) return group.status();
    for (const std::string& trouble : flags.troubles) {
      const auto outcome = measure(flags, **group, Outcome{agreement, trouble, {}, {}, {}});
      if (!outcome.ok()) return outcome.status();
      if (flags.output == "json") print_json(flags, *outcome);
      table.add_row({agreement, trouble, cell(quantiles_of(outcome->whole), 0), cell(quantiles_of(outcome->troubled), 0),
                     cell(quantiles_of(ratios(outcome->troubled, outcome->whole)), 3)});
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
