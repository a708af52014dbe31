#include "tests/simulation/report.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace ingot::simulation {

namespace {

using Row = std::pair<const char*, std::uint64_t>;

std::vector<Row> rows_of(const Tally& tally) {
  std::vector<Row> rows{{"events", tally.events},
                        {"steps", tally.steps},
                        {"messages", tally.messages},
                        {"dropped messages", tally.dropped},
                        {"decided slots", tally.decided},
                        {"writes", tally.writes},
                        {"writes without space", tally.no_space},
                        {"unacknowledged writes", tally.unacknowledged_writes},
                        {"reads", tally.reads},
                        {"repeated requests", tally.repeats},
                        {"snapshots", tally.snapshots},
                        {"written snapshots", tally.written},
                        {"published snapshots", tally.published},
                        {"snapshot messages", tally.snapshot_messages},
                        {"relayed messages", tally.relayed},
                        {"unknown outcomes", tally.unknown},
                        {"salvages", tally.salvages},
                        {"histories", tally.histories},
                        {"fences", tally.fences},
                        {"restarts", tally.restarts},
                        {"released segments", tally.released},
                        {"writes waited for releases", tally.kept_full},
                        {"dead for good", tally.dead_for_good},
                        {"leaderships", tally.leaderships},
                        {"epochs", tally.epochs},
                        {"leader and acceptor lost together", tally.both_lost},
                        {"everybody lost together", tally.everybody_lost},
                        {"refused moves", tally.refused_moves},
                        {"stops told", tally.stops_told},
                        {"virtual us", tally.virtual_us}};
  for (std::size_t i = 0; i < tally.faults.size(); ++i) {
    rows.emplace_back(name_of(static_cast<Fault::Kind>(i)), tally.faults[i]);
  }
  return rows;
}

double per_second(std::uint64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

template <typename... Arguments>
std::string format(const char* pattern, Arguments... arguments) {
  std::array<char, 200> line;
  std::snprintf(line.data(), line.size(), pattern, arguments...);
  return line.data();
}

}  // namespace

std::string command_line(const Options& options) {
  const bool mutated = !options.mutant.empty();
  std::string line = std::string(mutated ? "simulate_mutants" : "simulate") + " --agreement=" + options.agreement +
                     " --replicas=" + std::to_string(options.replicas) + " --voters=" + std::to_string(options.voters) +
                     " --seed=" + std::to_string(options.seed) + " --count=1";
  const Options none;
  if (!options.kills) line += " --no-kills";
  if (mutated) line += " --mutant=" + options.mutant;
  if (options.faults_max != none.faults_max) line += " --faults=" + std::to_string(options.faults_max);
  if (options.writes_max != none.writes_max) line += " --writes=" + std::to_string(options.writes_max);
  return line;
}

std::string as_text(const Options& options, const SweepResult& result) {
  std::string text = options.agreement + ", " + std::to_string(options.replicas) + " replicas, " +
                     std::to_string(options.voters) + " voters: " + std::to_string(result.seeds) + " seeds from " +
                     std::to_string(options.seed) + ", " + std::to_string(result.failures.size()) + " violations\n";
  for (const Row& row : rows_of(result.tally)) {
    text += format("  %-36s %14llu %10.2f a seed\n", row.first, static_cast<unsigned long long>(row.second),
                   result.seeds == 0 ? 0.0 : static_cast<double>(row.second) / static_cast<double>(result.seeds));
  }
  text += format("  in %.1f s: %.0f seeds/s, %.0f events/s\n", result.seconds,
                 per_second(result.seeds, result.seconds), per_second(result.tally.events, result.seconds));
  return text;
}

std::string as_json(const Options& options, const SweepResult& result) {
  nlohmann::ordered_json json{{"agreement", options.agreement},
                              {"replicas", options.replicas},
                              {"voters", options.voters},
                              {"first_seed", options.seed},
                              {"seeds", result.seeds},
                              {"mutant", options.mutant},
                              {"seconds", result.seconds}};
  for (const Row& row : rows_of(result.tally)) {
    std::string name = row.first;
    for (char& character : name) character = character == ' ' ? '_' : character;
    json["sums"][name] = row.second;
  }
  json["violations"] = nlohmann::ordered_json::array();
  for (const Failure& failure : result.failures) {
    json["violations"].push_back({{"seed", failure.seed}, {"violation", failure.violation}});
  }
  return json.dump(2) + "\n";
}

}  // namespace ingot::simulation
