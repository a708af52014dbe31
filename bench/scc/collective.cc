// bench/scc_collective: broadcast, reduction and barrier of one word among cores of the simulated SCC, in core cycles.
// With NVP, SRBP and RCKMPI's channel along a binomial tree; with RCCE linearly, one core after another.
#include <iostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/scc/flags.h"
#include "bench/scc/links.h"
#include "services/cli/table.h"

namespace {

using namespace ingot;

struct Flags {
  std::vector<std::string> protocols{"nvp", "srbp", "rcce", "rckmpi"};
  std::vector<int> cores{2, 4, 8, 16, 32, 48};
  std::vector<std::string> operations{"broadcast", "reduction", "barrier"};
  int repetitions = 5;
  scc::ChipFlags chip;
};

absl::StatusOr<scc::CollectiveOperation> parse_operation(const std::string& name) {
  if (name == "broadcast") return scc::CollectiveOperation::kBroadcast;
  if (name == "reduction") return scc::CollectiveOperation::kReduction;
  if (name == "barrier") return scc::CollectiveOperation::kBarrier;
  return absl::InvalidArgumentError(
      absl::StrCat("there is no operation \"", name, "\": broadcast, reduction and barrier are possible"));
}

absl::Status run(const Flags& flags) {
  const auto options = flags.chip.options();
  if (!options.ok()) return options.status();
  const auto right = Table::Align::kRight;
  Table table({{"protocol"}, {"operation"}, {"cores", right}, {"cycles", right}});
  for (const std::string& name : flags.operations) {
    const auto operation = parse_operation(name);
    if (!operation.ok()) return operation.status();
    for (const std::string& protocol : flags.protocols) {
      for (const int cores : flags.cores) {
        const auto cycles = scc::measure_collective(*options, protocol, cores, *operation, flags.repetitions);
        if (!cycles.ok()) return cycles.status();
        if (flags.chip.json()) {
          std::cout << nlohmann::ordered_json{{"protocol", protocol}, {"operation", name}, {"cores", cores},
                                              {"cycles", *cycles}}
                           .dump()
                    << std::endl;
        }
        table.add_row({protocol, name, absl::StrCat(cores), absl::StrFormat("%.0f", *cycles)});
      }
    }
  }
  if (!flags.chip.json()) table.print(std::cout);
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Collective operations on one word among cores of the simulated SCC, in core cycles.");
  Flags flags;
  app.add_option("--protocol", flags.protocols,
                 "nvp, srbp, srbp-plain (without its precautions against deaths), rcce, rckmpi")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--cores", flags.cores, "how many take part, 2 to 48: core 0 and so on")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--operation", flags.operations, "broadcast, reduction, barrier")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--repetitions", flags.repetitions, "to take the mean of")
      ->check(whole_number(1, 100'000))
      ->capture_default_str();
  flags.chip.add_to(app);
  return run_cli(app, argc, argv, [&] { return run(flags); });
}
