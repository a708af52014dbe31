// bench/scc_interrupt: from one core's interrupt request to the start of the last target's handler, in core cycles of
// the simulated SCC.
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/scc/flags.h"
#include "services/cli/table.h"
#include "transport/scc/chip.h"
#include "transport/scc/interrupts/interrupts.h"

namespace {

using namespace ingot;
using namespace ingot::scc;

struct Flags {
  std::vector<int> targets{1, 2, 4, 8, 16, 32, 47};
  int source = 0;
  ChipFlags chip;
};

struct Result {
  double first_cycles = 0, last_cycles = 0, sender_cycles = 0;
};

absl::StatusOr<Result> measure(const ChipOptions& options, int source, int targets) {
  if (!is_core(source)) {
    return absl::InvalidArgumentError(absl::StrCat("there is no core ", source, ": cores are numbered from 0 to 47"));
  }
  if (targets < 1 || targets >= kCores) {
    return absl::InvalidArgumentError(
        absl::StrCat("an interrupt cannot go to ", targets, " other cores: 1 to ", kCores - 1, " are possible"));
  }
  auto chip = Chip::create(options);
  if (!chip.ok()) return chip.status();
  std::vector<int> cores;
  for (int core = 0; static_cast<int>(cores.size()) < targets; ++core) {
    if (core != source) cores.push_back(core);
  }
  const CoreSet set = core_set(cores);
  cores.push_back(source);
  std::vector<Picoseconds> handled;
  Picoseconds sent = 0, returned = 0;
  const absl::Status status = (*chip)->run(cores, [&](Core& core) {
    Interrupts interrupts(core, [&](Core& self, CoreSet) { handled.push_back(self.now_ps()); });
    if (core.id() != source) return interrupts.wait();
    core.sleep(core.costs().core_cycles(10'000));  // all other cores wait
    sent = core.now_ps();
    interrupts.send(set);
    returned = core.now_ps();
  });
  if (!status.ok()) return status;
  if (static_cast<int>(handled.size()) != targets) return absl::InternalError("an interrupt was lost");
  const auto [first, last] = std::minmax_element(handled.begin(), handled.end());
  const auto cycles = [&](Picoseconds until) {
    return static_cast<double>(until - sent) * static_cast<double>((*chip)->costs().core_mhz) * 1e-6;
  };
  return Result{cycles(*first), cycles(*last), cycles(returned)};
}

absl::Status run(const Flags& flags) {
  const auto options = flags.chip.options();
  if (!options.ok()) return options.status();
  const auto right = Table::Align::kRight;
  Table table({{"targets", right}, {"cycles", right}, {"first target", right}, {"sender busy", right}});
  for (const int targets : flags.targets) {
    const auto result = measure(*options, flags.source, targets);
    if (!result.ok()) return result.status();
    if (flags.chip.json()) {
      std::cout << nlohmann::ordered_json{{"targets", targets},
                                          {"cycles", result->last_cycles},
                                          {"first_cycles", result->first_cycles},
                                          {"sender_cycles", result->sender_cycles}}
                       .dump()
                << std::endl;
    }
    const auto number = [](double value) { return absl::StrFormat("%.0f", value); };
    table.add_row({absl::StrCat(targets), number(result->last_cycles), number(result->first_cycles),
                   number(result->sender_cycles)});
  }
  if (!flags.chip.json()) table.print(std::cout);
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("From one core's interrupt until the last target's handler runs, in core cycles of the simulated SCC.");
  Flags flags;
  app.add_option("--targets", flags.targets, "how many other cores one request goes to, 1 to 47")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--source", flags.source, "the core that asks")->capture_default_str();
  flags.chip.add_to(app);
  return run_cli(app, argc, argv, [&] { return run(flags); });
}
