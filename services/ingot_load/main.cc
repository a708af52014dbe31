// ingot-load: drives puts and gets through a server of etcd's key-value API, measures them, and checks that no write
// was lost. Flags only; run_load and check_store do the work.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <iostream>
#include <random>
#include <string>

#include <CLI/CLI.hpp>

#include "absl/strings/str_format.h"
#include "services/cli/cli.h"
#include "services/cli/duration.h"
#include "services/cli/endpoint.h"
#include "services/cli/terminal.h"
#include "services/ingot_load/final_check.h"
#include "services/ingot_load/load_engine.h"
#include "services/ingot_load/report.h"

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
};

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
  app.add_option("--read-kind", flags.read_kind, "linearizable, or serializable: from any replica's own state")
      ->check(one_of({"serializable", "linearizable"}))
      ->capture_default_str();
  load.duration = std::chrono::seconds(10);
  CLI::Option* duration = add_duration(app, "--duration", load.duration, "how long to start requests");
  app.add_option("--count", load.count, "requests in all, instead of a duration")->excludes(duration);
  app.add_option("--rate", load.rate_per_s,
                 "requests started each second, whatever the answers (open loop); latency counts from the time a "
                 "request should have started; 0: each client starts the next when it has its answer (closed loop)")
      ->capture_default_str();
  add_duration(app, "--timeout", load.timeout, "of one request, and of the first connection");
  app.add_option("--seed", load.seed, "of keys and of the mix of reads and writes; default: random");
  app.add_option("--prefix", load.prefix, "of all keys; default: ingot-load/ and a random number");
  app.add_flag("--check", load.keep_ledger,
               "at the end, read all keys and fail unless each has its last acknowledged write or a newer one");
  add_duration(app, "--check-patience", flags.check_patience, "how long the check waits for a server that is away");
  app.add_option("-o,--output", flags.output, "table or json")->check(one_of({"table", "json"}))->capture_default_str();
}

void complete(const CLI::App& app, Flags& flags) {
  LoadOptions& load = flags.load;
  load.distribution = flags.distribution == "zipf" ? Distribution::kZipf : Distribution::kUniform;
  load.read_kind = flags.read_kind == "serializable" ? ReadKind::kSerializable : ReadKind::kLinearizable;
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

absl::Status run(const Flags& flags) {
  const LoadOptions& load = flags.load;
  if (const absl::Status valid = validate(load); !valid.ok()) return valid;
  stop_on_signals();
  ProgressLine line(load.count > 0 ? 0 : std::chrono::duration<double>(load.duration).count(),
                    terminal_at(STDERR_FILENO).redraws);
  const auto result = run_load(load, line.period(), [&](const LoadProgress& p) { line.show(p); }, stop_requested);
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
