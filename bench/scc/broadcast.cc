// bench/scc_broadcast: all broadcasts of the simulated SCC over sizes, cores, sources, k, concurrent sources,
// background traffic and clocks. Virtual time: results do not depend on this machine. docs/scc-software.md explains the
// columns.
#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/scc/flags.h"
#include "bench/scc/measure.h"
#include "services/cli/cli.h"
#include "services/cli/table.h"

namespace {

using namespace ingot;

struct Flags {
  std::vector<std::string> algorithms{"all"};
  std::vector<std::int64_t> bytes{32, 1024, 4096, 32768, 1 << 20};
  std::vector<std::int64_t> cores{48};
  std::vector<int> sources_of{0};
  std::vector<int> k{scc::BroadcastSetup::kDefaultK};
  std::vector<int> sources{1};
  std::vector<double> background_us{0};
  int repetitions = 0, messages = 0;
  std::string trace;
  scc::ChipFlags chip;
};

void add_flags(CLI::App& app, Flags& flags) {
  app.add_option("--algorithm", flags.algorithms, "broadcasts by name, or all")->delimiter(',')->capture_default_str();
  app.add_option("--bytes", flags.bytes, "sizes of a message, 0 to 16777216")->delimiter(',')->capture_default_str();
  app.add_option("--cores", flags.cores, "how many cores take part, 2 to 48: core 0 and so on")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--source", flags.sources_of, "cores that broadcast, one after another")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--k", flags.k, "children of a core, for oc-bcast and oc-bcast-async, 1 to 47")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--sources", flags.sources, "broadcasters at once, for the throughput")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--background-us", flags.background_us, "every core writes 1 MiB off-chip every so often; 0: none")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--repetitions", flags.repetitions, "for the latency; 0: 1 to 10, by size")->capture_default_str();
  app.add_option("--messages", flags.messages, "pipelined by each source for the throughput; 0: 1 to 40, by size")
      ->capture_default_str();
  app.add_option("--trace", flags.trace, "a file for a trace that Chrome's and Perfetto's viewers open; for one point");
  flags.chip.add_to(app);
}

// Returns every combination; an error if any flag is wrong.
absl::StatusOr<std::vector<scc::BroadcastPoint>> points_of(const Flags& flags) {
  std::vector<std::string_view> names;
  for (const std::string& name : flags.algorithms) {
    if (name != "all") names.push_back(name);
    for (const auto& each : scc::broadcast_algorithms()) {
      if (name == "all") names.push_back(each.name);
    }
  }
  std::vector<scc::BroadcastPoint> points;
  for (const double background_us : flags.background_us)
    for (const int sources : flags.sources)
      for (const int k : flags.k)
        for (const int source : flags.sources_of)
          for (const std::int64_t cores : flags.cores)
            for (const std::int64_t bytes : flags.bytes)
              for (const std::string_view name : names) {
                if (bytes < 0 || bytes > static_cast<std::int64_t>(scc::kMeasureMessageBytesMax)) {
                  return absl::InvalidArgumentError(absl::StrCat("a message cannot have ", bytes, " bytes: 0 to ",
                                                                 scc::kMeasureMessageBytesMax, " are possible"));
                }
                if (cores < 2 || cores > scc::kCores) {
                  return absl::InvalidArgumentError(
                      absl::StrCat("the number of cores cannot be ", cores, ": 2 to ", scc::kCores, " are possible"));
                }
                points.push_back({.algorithm = std::string(name), .bytes = static_cast<std::size_t>(bytes),
                                  .cores = static_cast<int>(cores), .source = source, .k = k, .sources = sources,
                                  .background_us = background_us, .repetitions = flags.repetitions,
                                  .messages = flags.messages});
                if (absl::Status status = scc::validate(points.back()); !status.ok()) return status;
              }
  return points;
}

class Report {
 public:
  explicit Report(bool json) : json_(json) {}

  void add(const scc::BroadcastPoint& p, const scc::BroadcastResult& r) {
    if (json_) {
      std::cout << nlohmann::ordered_json{{"algorithm", p.algorithm},
                                          {"bytes", p.bytes},
                                          {"cores", p.cores},
                                          {"source", p.source},
                                          {"k", p.k},
                                          {"sources", p.sources},
                                          {"background_us", p.background_us},
                                          {"latency_us", r.latency_us},
                                          {"throughput_mb_per_s", r.throughput_mb_per_s},
                                          {"energy_uj", r.energy_uj}}
                       .dump()
                << std::endl;
      return;
    }
    const auto number = [](double value) { return absl::StrFormat("%.2f", value); };
    table_.add_row({p.algorithm, absl::StrCat(p.bytes), absl::StrCat(p.cores), absl::StrCat(p.source),
                    absl::StrCat(p.k), absl::StrCat(p.sources), absl::StrCat(p.background_us), number(r.latency_us),
                    number(r.throughput_mb_per_s), number(r.energy_uj)});
  }
  void end() {
    if (!json_) table_.print(std::cout);
  }

 private:
  static constexpr auto kRight = Table::Align::kRight;
  const bool json_;
  Table table_{{{"algorithm"},
                {"bytes", kRight},
                {"cores", kRight},
                {"source", kRight},
                {"k", kRight},
                {"sources", kRight},
                {"background us", kRight},
                {"latency us", kRight},
                {"throughput MB/s", kRight},
                {"energy uJ", kRight}}};
};

absl::Status run(const Flags& flags) {
  auto options = flags.chip.options();
  if (!options.ok()) return options.status();
  options->trace_path = flags.trace;
  const auto points = points_of(flags);
  if (!points.ok()) return points.status();
  if (!flags.trace.empty() && points->size() != 1) {
    return absl::InvalidArgumentError("--trace is for one algorithm, size and so on: each point is a run of its own");
  }
  const auto began = std::chrono::steady_clock::now();
  std::uint64_t accesses = 0;
  Report report(flags.chip.json());
  for (const scc::BroadcastPoint& point : *points) {
    const auto result = scc::measure_broadcast(*options, point);
    if (!result.ok()) return result.status();
    accesses += result->accesses;
    report.add(point, *result);
  }
  report.end();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
  std::fprintf(stderr, "%zu points, %.1f million simulated memory accesses in %.1f s: %.1f million a second\n",
               points->size(), static_cast<double>(accesses) * 1e-6, seconds.count(),
               static_cast<double>(accesses) * 1e-6 / seconds.count());
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Broadcasts on the simulated SCC, in virtual time; every byte that arrives is checked.");
  Flags flags;
  add_flags(app, flags);
  return run_cli(app, argc, argv, [&] { return run(flags); });
}
