// ingot-load: drives puts and gets through a server of etcd's key-value API, measures them, and checks that no write
// was lost; beside them watches and leases, if wanted. Flags only; run_load and check_store do the work.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include <CLI/CLI.hpp>

#include "absl/strings/str_format.h"
#include "core/enum_names.h"
#include "services/cli/cli.h"
#include "services/cli/duration.h"
#include "services/cli/endpoint.h"
#include "services/cli/terminal.h"
#include "services/ingot_load/final_check.h"
#include "services/ingot_load/lease_holders.h"
#include "services/ingot_load/load_engine.h"
#include "services/ingot_load/report.h"
#include "services/ingot_load/target_report.h"
#include "services/ingot_load/target_search.h"
#include "services/ingot_load/watchers.h"

namespace {

using namespace ingot;
using namespace ingot::load;

std::atomic<bool> stop_requested{false};

// The first signal ends the run, and the summary is printed; the second ends the process.
void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { stop_requested.store(true); };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

struct Flags {
  LoadOptions load;
  std::string distribution = "uniform";
  std::string read_kind = "linearizable";
  std::string output = "table";
  std::chrono::nanoseconds check_patience = std::chrono::seconds(30);
  bool search = false;  // for the target
  std::chrono::nanoseconds target_p99{};
};

CLI::Option* add_target(CLI::App& app, Flags& flags) {
  return add_duration(app, "--target-p99", flags.target_p99,
                      "search for the highest --rate whose 99th percentile stays below this, such as 5ms; each step "
                      "of the search takes --duration")
      ->default_str("none");
}

void add_flags(CLI::App& app, Flags& flags) {
  LoadOptions& load = flags.load;
  add_endpoint(app, load.endpoint);
  app.add_option("--clients", load.clients, "how many clients, each with one request at a time")->capture_default_str();
  app.add_option("--connections", load.connections, "connections that the clients share")->capture_default_str();
  app.add_option("--threads", load.threads, "threads that drive the connections")->capture_default_str();
  app.add_option("--keys", load.keys, "number of keys")->capture_default_str();
  app.add_option("--distribution", flags.distribution, "of requests over keys: uniform or zipf (exponent 1.01)")
      ->check(one_of({"uniform", "zipf"}))
      ->capture_default_str();
  app.add_option("--value-bytes", load.value_bytes, "size of a value")->capture_default_str();
  app.add_option("--read-share", load.read_share, "share of requests that read, 0 to 1")->capture_default_str();
  app.add_option("--read-kind", flags.read_kind,
                 "linearizable; serializable: from any replica's own state; view: in place, from the instance's view")
      ->check(one_of({"serializable", "linearizable", "view"}))
      ->capture_default_str();
  load.duration = std::chrono::seconds(10);
  CLI::Option* duration = add_duration(app, "--duration", load.duration, "how long to start requests");
  CLI::Option* count =
      app.add_option("--count", load.count, "requests in all, instead of a duration")->excludes(duration);
  CLI::Option* rate =
      app.add_option("--rate", load.rate_per_s,
                     "requests started each second, whatever the answers (open loop); latency counts from the time a "
                     "request should have started; 0: each client starts the next when it has its answer (closed loop)")
          ->capture_default_str();
  CLI::Option* watchers = app.add_option(
      "--watchers", load.watchers, "watches that are open meanwhile, spread over keys and connections");
  watchers->capture_default_str();
  CLI::Option* leases =
      app.add_option("--leases", load.leases, "leases that are kept alive meanwhile, three times in their TTL");
  leases->capture_default_str();
  add_duration(app, "--lease-ttl", load.lease_ttl, "of these leases");
  add_duration(app, "--timeout", load.timeout, "of one request, of the first connection, and of opening all watches");
  app.add_option("--seed", load.seed, "of keys and of the mix of reads and writes; default: random");
  app.add_option("--prefix", load.prefix, "of all keys; default: ingot-load/ and a random number");
  CLI::Option* check =
      app.add_flag("--check", load.keep_ledger,
                   "at the end, read all keys and fail unless each has its last acknowledged write or a newer one; "
                   "and unless each watch was told of each put once, in order, and no lease ended early");
  add_target(app, flags)->excludes(count)->excludes(rate)->excludes(check)->excludes(watchers)->excludes(leases);
  add_duration(app, "--check-patience", flags.check_patience, "how long the check waits for a server that is away");
  app.add_option("-o,--output", flags.output, "table or json")->check(one_of({"table", "json"}))->capture_default_str();
}

void complete(const CLI::App& app, Flags& flags) {
  LoadOptions& load = flags.load;
  load.distribution = flags.distribution == "zipf" ? Distribution::kZipf : Distribution::kUniform;
  load.read_kind = *value_of<ReadKind>(flags.read_kind);
  flags.search = app.count("--target-p99") > 0;
  std::random_device random;
  load.run = random();
  if (app.count("--seed") == 0) load.seed = random();
  if (app.count("--prefix") == 0) load.prefix = absl::StrFormat("ingot-load/%08x/", load.run);
}

absl::Status verdict(const LoadResult& result, const std::optional<CheckReport>& check) {
  if (check && !check->held()) {
    return absl::DataLossError(check->wrote_nothing ? "the check failed: no write was acknowledged"
                                                    : "the check failed: see above");
  }
  if (result.totals.acknowledged == 0) return absl::UnavailableError("no request was acknowledged");
  return absl::OkStatus();
}

absl::Status run_search(const Flags& flags) {
  const LoadOptions& load = flags.load;
  const Terminal terminal = terminal_at(STDERR_FILENO);
  std::optional<ProgressLine> line;  // of one step
  const auto progress = [&](const LoadProgress& p) {
    if (!terminal.redraws) return;  // elsewhere the steps' own lines are enough
    if (!line) line.emplace(std::chrono::duration<double>(load.duration).count(), true);
    line->show(p);
  };
  std::size_t number = 0;
  const auto step = [&](const TargetStep& measured) {
    if (line) line->end();
    line.reset();
    std::fprintf(stderr, "%s\n", step_line(++number, measured).c_str());
  };
  const auto period = ProgressLine(0, terminal.redraws).period();
  const auto result = search_target(load, flags.target_p99, period, progress, step, stop_requested);
  if (line) line->end();
  if (!result.ok()) return result.status();
  std::cout << (flags.output == "json" ? json_target_report(load, flags.target_p99, *result)
                                       : table_target_report(flags.target_p99, *result))
            << std::flush;
  if (result->interrupted) return absl::CancelledError("the search was interrupted");
  return result->rate_per_s ? absl::OkStatus() : absl::UnavailableError("no rate kept the target: see above");
}

// What is there beside a run's requests.
struct Beside {
  std::unique_ptr<Watchers> watchers;
  std::unique_ptr<LeaseHolders> leases;
};

absl::StatusOr<Beside> begin_beside(const LoadOptions& load) {
  Beside beside;
  if (load.leases > 0) {
    auto leases = LeaseHolders::grant(load);
    if (!leases.ok()) return leases.status();
    beside.leases = *std::move(leases);
  }
  if (load.watchers > 0) {
    auto watchers = Watchers::open(load);
    if (!watchers.ok()) return watchers.status();
    beside.watchers = *std::move(watchers);
  }
  return beside;
}

// Adds what was seen beside the requests to the result and, if there is one, to the check.
absl::Status end_beside(const Flags& flags, Beside& beside, LoadResult& result, std::optional<CheckReport>& check) {
  absl::Status awaited;
  if (beside.leases != nullptr) result.leases = beside.leases->totals();
  if (beside.watchers != nullptr) {
    if (flags.load.keep_ledger) awaited = beside.watchers->await(flags.check_patience);
    result.watches = beside.watchers->totals();
  }
  if (!check) return awaited;
  if (result.leases) check->early_leases = result.leases->ended_early;
  if (result.watches) {
    check->bad_watches = result.watches->wrong + result.watches->behind;
    if (!result.watches->example.empty()) check->examples.push_back(result.watches->example);
  }
  return awaited;
}

absl::Status run(const Flags& flags) {
  const LoadOptions& load = flags.load;
  if (const absl::Status valid = validate(load); !valid.ok()) return valid;
  if (flags.search && flags.target_p99 <= std::chrono::nanoseconds::zero()) {
    return absl::InvalidArgumentError("--target-p99 must be longer than 0, such as 5ms");
  }
  stop_on_signals();
  if (flags.search) return run_search(flags);
  auto beside = begin_beside(load);
  if (!beside.ok()) return beside.status();
  ProgressLine line(load.count > 0 ? 0 : std::chrono::duration<double>(load.duration).count(),
                    terminal_at(STDERR_FILENO).redraws);
  auto result = run_load(load, line.period(), [&](const LoadProgress& p) { line.show(p); }, stop_requested);
  line.end();
  if (!result.ok()) return result.status();

  std::optional<CheckReport> check;
  absl::Status unread;
  if (load.keep_ledger) {
    const auto report = check_store(load, result->totals, result->ledger, flags.check_patience);
    if (report.ok()) {
      check = *report;
    } else {
      unread = report.status();
    }
  }
  unread.Update(end_beside(flags, *beside, *result, check));
  std::cout << (flags.output == "json" ? json_report(load, *result, check) : table_report(load, *result, check))
            << std::flush;
  return unread.ok() ? verdict(*result, check) : unread;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Drives puts and gets through a server of etcd's key-value API, and measures them.");
  Flags flags;
  add_flags(app, flags);
  return run_cli(app, argc, argv, [&] {
    complete(app, flags);
    return run(flags);
  });
}
