// bench/scc_app: matrix product, n-body and bucket sort on the simulated SCC, with any broadcast or point to point.
// Virtual time; every result is compared with a sequential run. docs/scc-software.md explains the columns.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/scc/flags.h"
#include "services/cli/cli.h"
#include "services/cli/table.h"
#include "transport/scc/apps/app.h"

namespace {

using namespace ingot;

struct Flags {
  std::vector<std::string> apps{"matmul", "nbody", "bucketsort"};
  std::vector<std::string> broadcasts{"rcce", "modmpb", "point-to-point"};
  std::vector<std::string> variants;
  std::vector<std::int64_t> sizes{256};
  std::vector<int> cores{scc::kCores};
  int steps = 2;
  std::int64_t cycles_per_operation = 0;
  scc::ChipFlags chip;
};

void add_flags(CLI::App& app, Flags& flags) {
  app.add_option("--app", flags.apps, "matmul, nbody, bucketsort")->delimiter(',')->capture_default_str();
  app.add_option("--broadcast", flags.broadcasts, "broadcasts by name, or point-to-point")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--variant", flags.variants, "of bucketsort: root, spread (default: both)")->delimiter(',');
  app.add_option("--size", flags.sizes, "rows and columns (to 2000), particles (to 100000) or keys (to 4000000)")
      ->delimiter(',')
      ->check(whole_number(1, 1'000'000'000))
      ->capture_default_str();
  app.add_option("--cores", flags.cores, "how many cores take part, 2 to 48: core 0 and so on")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--steps", flags.steps, "of n-body, 1 to 1000")->capture_default_str();
  app.add_option("--cycles-per-operation", flags.cycles_per_operation,
                 "core cycles charged for a multiply-add, a pair of particles, a look at a key; 0: 28, 150, 15")
      ->check(whole_number(0, static_cast<std::int64_t>(scc::kCyclesPerOperationMax)))
      ->capture_default_str();
  flags.chip.add_to(app);
}

std::vector<std::string> variants_of(const Flags& flags, const std::string& app) {
  if (!flags.variants.empty()) return flags.variants;
  if (app == "bucketsort") return {"root", "spread"};
  return {""};
}

// Returns every combination; an error if any flag is wrong.
absl::StatusOr<std::vector<scc::AppPoint>> points_of(const Flags& flags) {
  std::vector<scc::AppPoint> points;
  for (const std::string& app : flags.apps)
    for (const std::string& variant : variants_of(flags, app))
      for (const int cores : flags.cores)
        for (const std::int64_t size : flags.sizes)
          for (const std::string& broadcast : flags.broadcasts) {
            points.push_back({.app = app, .broadcast = broadcast, .size = static_cast<std::size_t>(size),
                              .variant = variant, .cores = cores, .steps = flags.steps,
                              .cycles_per_operation = static_cast<std::uint64_t>(flags.cycles_per_operation)});
            if (absl::Status status = scc::validate(points.back()); !status.ok()) return status;
          }
  return points;
}

void print_json(const scc::AppPoint& p, const scc::AppResult& r) {
  nlohmann::ordered_json row{{"app", p.app}};
  if (!p.variant.empty()) row["variant"] = p.variant;
  if (p.app == "nbody") row["steps"] = p.steps;
  row["broadcast"] = p.broadcast;
  row["size"] = p.size;
  row["cores"] = p.cores;
  row["cycles_per_operation"] = r.cycles_per_operation;
  row["compute_s"] = r.compute_s;
  row["communicate_s"] = r.communicate_s;
  std::cout << row.dump() << std::endl;
}

absl::Status run(const Flags& flags) {
  const auto options = flags.chip.options();
  if (!options.ok()) return options.status();
  const auto points = points_of(flags);
  if (!points.ok()) return points.status();
  constexpr auto kRight = Table::Align::kRight;
  Table table{{{"application"}, {"variant"}, {"broadcast"}, {"size", kRight}, {"cores", kRight}, {"compute s", kRight},
               {"communicate s", kRight}, {"total s", kRight}}};
  const auto number = [](double value) { return absl::StrFormat("%.6f", value); };
  const auto began = std::chrono::steady_clock::now();
  std::uint64_t accesses = 0;
  for (const scc::AppPoint& p : *points) {
    const auto r = scc::run_app(*options, p);
    if (!r.ok()) return r.status();
    accesses += r->accesses;
    if (flags.chip.json()) {
      print_json(p, *r);
    } else {
      table.add_row({p.app, p.variant.empty() ? "-" : p.variant, p.broadcast, absl::StrCat(p.size),
                     absl::StrCat(p.cores), number(r->compute_s), number(r->communicate_s),
                     number(r->compute_s + r->communicate_s)});
    }
  }
  if (!flags.chip.json()) table.print(std::cout);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
  std::fprintf(stderr, "%.1f million simulated memory accesses in %.1f s\n", static_cast<double>(accesses) * 1e-6,
               seconds.count());
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Applications on the simulated SCC, in virtual time; every result is checked.");
  Flags flags;
  add_flags(app, flags);
  return run_cli(app, argc, argv, [&] { return run(flags); });
}
