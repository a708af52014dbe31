// Flags that the benches of the simulated SCC share.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "services/cli/cli.h"
#include "transport/scc/options.h"

namespace ingot::scc {

struct ChipFlags {
  std::string clocks = "533/800/800";
  std::string model = "logp";
  std::int64_t seed = 1;
  std::int64_t jitter_cycles = 0;
  std::vector<std::string> constants;
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
    app.add_option("--constant", constants, "another value of a constant of the chip, NAME=VALUE; several: by comma")
        ->delimiter(',');
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
    for (const std::string& each : constants) {
      if (absl::Status set = change(options, each); !set.ok()) return set;
    }
    options.seed = static_cast<std::uint64_t>(seed);
    options.jitter_core_cycles = static_cast<std::uint64_t>(jitter_cycles);
    return options;
  }
  bool json() const { return output == "json"; }

 private:
  // `text`: NAME=VALUE.
  static absl::Status change(ChipOptions& options, const std::string& text) {
    const std::size_t sign = text.find('=');
    double value = 0;
    if (sign == std::string::npos || !absl::SimpleAtod(text.substr(sign + 1), &value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", text, "\" changes no constant: give NAME=VALUE, for example fpga_one_way_ns=100"));
    }
    return set_constant(options, text.substr(0, sign), value);
  }
};

}  // namespace ingot::scc
