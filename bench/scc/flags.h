// Flags that the benches of the simulated SCC share.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "absl/status/statusor.h"
#include "services/cli/cli.h"
#include "transport/scc/options.h"

namespace ingot::scc {

struct ChipFlags {
  std::string clocks = "533/800/800";
  std::string model = "logp";
  std::int64_t seed = 1;
  std::int64_t jitter_cycles = 0;
  std::string output = "table";

  void add_to(CLI::App& app) {
    app.add_option("--clocks", clocks, "core, mesh and memory clock in MHz")->capture_default_str();
    app.add_option("--model", model, "how writes are charged: logp or wgr")->capture_default_str();
    app.add_option("--seed", seed, "decides ties between cores, and jitter")
        ->check(whole_number(0))
        ->capture_default_str();
    app.add_option("--jitter-cycles", jitter_cycles, "each access takes up to so many core cycles longer, by seed")
        ->check(whole_number(0, 1'000'000))
        ->capture_default_str();
    app.add_option("-o,--output", output, "table or json (one object per line)")
        ->check(one_of({"table", "json"}))
        ->capture_default_str();
  }

  // Errors: INVALID_ARGUMENT.
  absl::StatusOr<ChipOptions> options() const {
    ChipOptions options;
    absl::Status status = parse_clocks(clocks, options.clocks);
    status.Update(parse_cost_model(model, options.cost_model));
    if (!status.ok()) return status;
    options.seed = static_cast<std::uint64_t>(seed);
    options.jitter_core_cycles = static_cast<std::uint64_t>(jitter_cycles);
    return options;
  }
  bool json() const { return output == "json"; }
};

}  // namespace ingot::scc
