// tests/chaos/recorder: clients that record their requests and answers until standard input ends. Whatever is written
// there says that the daemon is blocked for good, so that nothing can be looked up. Flags and output only.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "services/cli/cli.h"
#include "services/cli/duration.h"
#include "services/cli/endpoint.h"
#include "tests/chaos/recorder.h"

namespace {

using namespace ingot;
using namespace ingot::chaos;

struct Flags {
  RecorderOptions recorder;
  std::string history;
};

void add_flags(CLI::App& app, Flags& flags) {
  RecorderOptions& options = flags.recorder;
  add_endpoint(app, options.endpoint);
  app.add_option("--history", flags.history, "file for the history: one operation per line")->required();
  app.add_option("--clients", options.clients, "each with one request at a time")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--keys", options.keys, "that are in use at a time")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of what clients do")->capture_default_str();
  add_duration(app, "--era", options.era, "after which other keys are used");
  add_duration(app, "--pause", options.pause, "of a client between two operations, on average");
  add_duration(app, "--patience", options.patience, "with a daemon that is away when everything is looked up");
}

absl::Status write_history(const std::string& path, const Records& records) {
  std::ofstream file(path);
  for (const Recorded& each : records) file << to_json_line(each) << '\n';
  file.flush();
  return file ? absl::OkStatus() : absl::UnavailableError(absl::StrCat(path, " could not be written"));
}

std::string verdict(const std::string& violation) { return violation.empty() ? "fine" : violation; }

absl::Status run(const Flags& flags) {
  std::atomic<bool> stop{false};
  bool blocked = false;  // written before `waiter` ends
  std::thread waiter([&] {
    char ignored[64];
    while (::read(STDIN_FILENO, ignored, sizeof ignored) > 0) blocked = true;
    stop.store(true);
  });
  Recording recording = record(flags.recorder, stop);
  waiter.join();
  // The history is there before the look-up, which may fail.
  if (auto status = write_history(flags.history, recording.records); !status.ok()) return status;
  if (!blocked) {
    if (auto status = look_up(flags.recorder, recording); !status.ok()) return status;
    if (auto status = write_history(flags.history, recording.records); !status.ok()) return status;
  }

  const Records& records = recording.records;
  const auto count = [&](auto which) { return std::count_if(records.begin(), records.end(), which); };
  const std::string revisions = find_revision_violation(records);
  const std::string order = find_order_violation(records);
  const nlohmann::ordered_json report = {
      {"operations", records.size()},
      {"acknowledged_writes", count([](const Recorded& each) { return each.wrote(); })},
      {"open", count([](const Recorded& each) { return !each.answered(); })},
      {"open_reads", recording.open_reads},
      {"failed", recording.failed},
      {"elapsed_s", recording.elapsed_s},
      {"gap_ms_max", gap_ms_max(records)},
      {"looked_up", recording.looked_up},
      {"lost", recording.lost.size()},
      {"lost_examples", std::vector(recording.lost.begin(), recording.lost.begin() + std::min<std::ptrdiff_t>(
                                        10, static_cast<std::ptrdiff_t>(recording.lost.size())))},
      {"revisions", verdict(revisions)},
      {"linearizable", verdict(order)}};
  std::cout << report.dump() << std::endl;
  if (recording.lost.empty() && revisions.empty() && order.empty()) return absl::OkStatus();
  return absl::DataLossError("what clients were told cannot be true: see above");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Clients of a daemon that write down what they are told, until standard input ends.");
  Flags flags;
  add_flags(app, flags);
  return run_cli(app, argc, argv, [&] { return run(flags); });
}
