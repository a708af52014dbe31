// bench/scc_round_trip: the round trip of a small message between two cores of the simulated SCC, in core cycles.
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
  std::vector<int> to{1};
  scc::RoundTrip trip;
  std::int64_t bytes = 16;
  std::string trace;
  scc::ChipFlags chip;
};

absl::Status run(Flags& flags) {
  auto options = flags.chip.options();
  if (!options.ok()) return options.status();
  options->trace_path = flags.trace;
  if (!flags.trace.empty() && flags.protocols.size() * flags.to.size() != 1) {
    return absl::InvalidArgumentError("--trace is for one protocol and one --to: each is a run of its own");
  }
  flags.trip.bytes = static_cast<std::size_t>(flags.bytes);
  const auto right = Table::Align::kRight;
  Table table({{"protocol"}, {"from", right}, {"to", right}, {"routers", right}, {"cores", right}, {"bytes", right},
               {"cycles", right}});
  for (const std::string& protocol : flags.protocols) {
    for (const int to : flags.to) {
      scc::RoundTrip trip = flags.trip;
      trip.to = to;
      const auto cycles = scc::measure_round_trip(*options, protocol, trip);
      if (!cycles.ok()) return cycles.status();
      if (flags.chip.json()) {
        std::cout << nlohmann::ordered_json{{"protocol", protocol}, {"from", trip.from}, {"to", to},
                                            {"cores", trip.cores}, {"bytes", trip.bytes}, {"cycles", *cycles}}
                         .dump()
                  << std::endl;
      }
      table.add_row({protocol, absl::StrCat(trip.from), absl::StrCat(to),
                     absl::StrCat(scc::routers(scc::tile_of(trip.from), scc::tile_of(to))), absl::StrCat(trip.cores),
                     absl::StrCat(trip.bytes), absl::StrFormat("%.0f", *cycles)});
    }
  }
  if (!flags.chip.json()) table.print(std::cout);
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("A small message there and back between two cores of the simulated SCC, in core cycles.");
  Flags flags;
  app.add_option("--protocol", flags.protocols,
                 "nvp, srbp, srbp-plain (without its precautions against deaths), rcce, rckmpi")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--from", flags.trip.from, "the core that begins")->capture_default_str();
  app.add_option("--to", flags.to, "the core that answers; several: one after another")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--cores", flags.trip.cores, "cores that the protocol is set up for: core 0 and so on")
      ->capture_default_str();
  app.add_option("--bytes", flags.bytes, "of the message")
      ->check(whole_number(1, scc::kLinkBytesMax))
      ->capture_default_str();
  app.add_option("--round-trips", flags.trip.round_trips, "to take the mean of")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--trace", flags.trace,
                 "a file for a trace; bench/scc_trace.py sums it up, Perfetto's viewer shows it");
  flags.chip.add_to(app);
  return run_cli(app, argc, argv, [&] { return run(flags); });
}
