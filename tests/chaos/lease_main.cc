// tests/chaos/lease_holders: lease holders and watchers that record what they see until standard input ends. Lines
// there say what was done to the daemon:
//
//   disturbed NS      at that time, of the monotonic clock, a process was killed, stopped or continued, or was up again
//   stopped FROM TO   the whole group was stopped so long
//   blocked           the daemon is blocked for good, so that nothing can be looked up
//
// Flags and output only.
#include <atomic>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "services/cli/cli.h"
#include "services/cli/duration.h"
#include "services/cli/endpoint.h"
#include "tests/chaos/lease_holders.h"

namespace {

using namespace ingot;
using namespace ingot::chaos;

struct Flags {
  HolderOptions holders;
  std::chrono::nanoseconds late = std::chrono::seconds(60);
};

void add_flags(CLI::App& app, Flags& flags) {
  HolderOptions& options = flags.holders;
  add_endpoint(app, options.endpoint);
  app.add_option("--holders", options.holders, "each with one lease at a time")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--locks", options.locks, "that they want")->check(CLI::Range(1, 256))->capture_default_str();
  app.add_option("--watchers", options.watchers, "of all keys")->check(CLI::Range(1, 256))->capture_default_str();
  app.add_option("--ttl", options.ttl_s, "of a lease, in seconds")->check(CLI::Range(2, 60))->capture_default_str();
  app.add_option("--seed", options.seed, "of what holders do")->capture_default_str();
  add_duration(app, "--late", flags.late, "no lease ends later than this after its time, or its time after a fault");
  add_duration(app, "--patience", options.patience, "with a daemon that is away, and with leases, at the end");
}

// Reads until standard input ends, which is then told.
Disturbances read_disturbances(std::atomic<bool>& blocked) {
  Disturbances found;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string word;
    Span span;
    words >> word >> span.from_ns >> span.to_ns;
    if (word == "blocked") blocked.store(true);
    if (word == "disturbed") found.times.push_back(span.from_ns);
    if (word == "stopped") found.stops.push_back(span);
  }
  return found;
}

std::string verdict(const std::string& violation) { return violation.empty() ? "fine" : violation; }

absl::Status run(const Flags& flags) {
  std::atomic<bool> stop{false}, blocked{false};
  Disturbances disturbances;  // written before `reader` ends
  std::thread reader([&] {
    disturbances = read_disturbances(blocked);
    stop.store(true);
  });
  const auto held = hold(flags.holders, stop, blocked);
  reader.join();
  if (!held.ok()) return held.status();

  const bool whole = !blocked.load();
  SeenEvents reference = held->reference;
  if (!whole) {  // nobody can be asked any more: the watchers must agree
    for (const SeenEvents& events : held->watchers) reference = events.size() > reference.size() ? events : reference;
  }
  std::string events = find_event_violation(held->watchers, reference, whole);
  if (events.empty()) events = held->lost_write.empty() ? held->ended_watch : held->lost_write;
  const std::string locks = find_shared_lock(held->tenures);
  const std::string early = find_early_end(held->leases, held->watchers, disturbances);
  const Lateness late = lateness(held->leases, held->watchers, disturbances);
  const bool too_late = whole && (late.left > 0 || late.most_ns > static_cast<std::uint64_t>(flags.late.count()));
  const nlohmann::ordered_json report = {{"leases", held->leases.size()},
                                         {"keep_alives", held->keep_alives},
                                         {"tenures", held->tenures.size()},
                                         {"expired", late.ended},
                                         {"events", reference.size()},
                                         {"writes", held->writes},
                                         {"group_stops", disturbances.stops.size()},
                                         {"late_ms_max", late.most_ns / 1'000'000},
                                         {"latest", late.whose},
                                         {"left", whole ? late.left : 0},
                                         {"seen_once_in_order", verdict(events)},
                                         {"locks_of_one", verdict(locks)},
                                         {"not_early", verdict(early)},
                                         {"not_late", too_late ? "a lease ended late or never: see above" : "fine"}};
  std::cout << report.dump() << std::endl;
  if (events.empty() && locks.empty() && early.empty() && !too_late) return absl::OkStatus();
  return absl::DataLossError("what holders and watchers saw cannot be true: see above");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Lease holders and watchers of a daemon that write down what they see, until standard input ends.");
  Flags flags;
  add_flags(app, flags);
  return run_cli(app, argc, argv, [&] { return run(flags); });
}
