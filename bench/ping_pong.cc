// bench/ping_pong: the cost of a message between two cores by NVP and by SRBP, compared with a bare cache line in the
// same run, and the cost of a probe that finds no message. Flags and output only; the rest is in line_race.cc.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/line_race.h"
#include "core/planning/topology.h"
#include "services/cli/cli.h"
#include "services/cli/table.h"
#include "transport/limits.h"

namespace {

using namespace ingot;
using namespace ingot::bench;

struct Flags {
  RaceOptions race;
  std::vector<int> cores;
  std::vector<int> idle_senders = {1, 8, 64, 256};
  std::string output = "table";
};

struct Quantiles {
  double p10 = 0, median = 0, p90 = 0;
};

Quantiles quantiles_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) { return values[static_cast<std::size_t>(share * (values.size() - 1))]; };
  return {at(0.1), at(0.5), at(0.9)};
}

// Ratios repetition by repetition, so that disturbances of both cancel out.
std::vector<double> ratios(const std::vector<double>& values, const std::vector<double>& base) {
  std::vector<double> result;
  for (std::size_t i = 0; i < values.size(); ++i) result.push_back(values[i] / base[i]);
  return result;
}

void add(nlohmann::ordered_json& object, const std::string& name, const Quantiles& q) {
  const auto round = [](double v) { return std::round(v * 100) / 100; };
  object[name + "_median"] = round(q.median);
  object[name + "_p10"] = round(q.p10);
  object[name + "_p90"] = round(q.p90);
}

std::string cell(const Quantiles& q, int digits) {
  return absl::StrFormat("%.*f (%.*f to %.*f)", digits, q.median, digits, q.p10, digits, q.p90);
}

void report_race(const Flags& flags, const std::vector<RaceSeries>& all, Table& table) {
  for (const RaceSeries& series : all) {
    const Quantiles round_trip = quantiles_of(series.round_trip_ns);
    const Quantiles one_way = quantiles_of(series.one_way_ns);
    const Quantiles to_line = quantiles_of(ratios(series.round_trip_ns, all[0].round_trip_ns));
    const Quantiles to_pair = quantiles_of(ratios(series.round_trip_ns, all[1].round_trip_ns));
    const bool streams = !series.stream_per_s.empty();
    table.add_row({series.link, cell(round_trip, 0), cell(one_way, 0), cell(to_line, 2), cell(to_pair, 2),
                   streams ? cell(quantiles_of(series.stream_per_s), 0) : "-"});
    if (flags.output != "json") continue;
    nlohmann::ordered_json object = {{"benchmark", "ping_pong"},
                                     {"link", series.link},
                                     {"first_core", flags.race.first_core.value()},
                                     {"second_core", flags.race.second_core.value()},
                                     {"message_bytes", flags.race.message_bytes},
                                     {"endpoints", flags.race.endpoints},
                                     {"repetitions", flags.race.repetitions}};
    add(object, "round_trip_ns", round_trip);
    add(object, "one_way_ns", one_way);
    add(object, "round_trip_ratio_to_bare_line", to_line);
    add(object, "round_trip_ratio_to_bare_pair", to_pair);
    if (streams) add(object, "stream_messages_per_s", quantiles_of(series.stream_per_s));
    std::cout << object.dump() << std::endl;
  }
}

void report_probes(const Flags& flags, Table& table) {
  for (const std::string kind : {"nvp", "srbp"}) {
    for (const int idle : flags.idle_senders) {
      std::fprintf(stderr, "empty probe, %s, %d idle senders\n", kind.c_str(), idle);
      const Quantiles ns = quantiles_of(empty_probe_ns(kind, idle, flags.race.repetitions));
      const int lines = lines_per_empty_probe(kind, idle);
      table.add_row({kind, absl::StrCat(idle), absl::StrCat(lines), cell(ns, 1),
                     absl::StrFormat("%.1f", ns.median / lines)});
      if (flags.output != "json") continue;
      nlohmann::ordered_json object = {{"benchmark", "empty_probe"},
                                       {"link", kind},
                                       {"idle_senders", idle},
                                       {"lines", lines},
                                       {"repetitions", flags.race.repetitions}};
      add(object, "probe_ns", ns);
      std::cout << object.dump() << std::endl;
    }
  }
}

absl::Status choose_cores(Flags& flags) {
  const auto topology = this_machine();
  if (!topology.ok()) return topology.status();
  if (flags.cores.empty()) {
    const std::size_t second = topology->cores.size() > 1 ? 1 : 0;
    flags.cores.push_back(topology->cores[0].id.value());
    flags.cores.push_back(topology->cores[second].id.value());
  }
  if (flags.cores.size() != 2) return absl::InvalidArgumentError("--cores names two cores, such as --cores=0,1");
  for (const int core : flags.cores) {
    if (core < 0 || core > 65535 || topology->find(CoreId(static_cast<std::uint16_t>(core))) == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("core ", core, " in --cores is none that this process may use; see `ingotctl topology`"));
    }
  }
  flags.race.first_core = CoreId(static_cast<std::uint16_t>(flags.cores[0]));
  flags.race.second_core = CoreId(static_cast<std::uint16_t>(flags.cores[1]));
  return absl::OkStatus();
}

void add_flags(CLI::App& app, Flags& flags) {
  app.add_option("--cores", flags.cores, "the two cores; default: the first two")->delimiter(',');
  app.add_option("--endpoints", flags.race.endpoints, "that the inboxes are made for")
      ->check(whole_number(2, kChannelEndpointsMax))
      ->capture_default_str();
  app.add_option("--message-bytes", flags.race.message_bytes, "size of a message")
      ->check(whole_number(8, 4096))
      ->capture_default_str();
  app.add_option("--repetitions", flags.race.repetitions, "of every measurement, in turns")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--round-trips", flags.race.round_trips, "in one repetition")
      ->check(whole_number(10, 1'000'000))
      ->capture_default_str();
  app.add_option("--stream-messages", flags.race.stream_messages, "in one repetition")
      ->check(whole_number(10, 10'000'000))
      ->capture_default_str();
  app.add_option("--idle-senders", flags.idle_senders, "that the empty probes look for")
      ->delimiter(',')
      ->check(whole_number(1, kChannelEndpointsMax - 1))
      ->capture_default_str();
  app.add_option("-o,--output", flags.output, "table or json (one object per line)")
      ->check(one_of({"table", "json"}))
      ->capture_default_str();
}

absl::Status run(Flags& flags) {
  if (absl::Status status = choose_cores(flags); !status.ok()) return status;
  std::fprintf(stderr, "%d repetitions between cores %d and %d\n", flags.race.repetitions, flags.cores[0],
               flags.cores[1]);
  const auto right = Table::Align::kRight;
  Table races({{"link"},
               {"round trip ns", right},
               {"one way ns", right},
               {"to bare line", right},
               {"to bare pair", right},
               {"stream messages per s", right}});
  Table probes({{"empty probe"}, {"idle senders", right}, {"lines", right}, {"ns", right}, {"ns per line", right}});
  report_race(flags, race(flags.race), races);
  report_probes(flags, probes);
  if (flags.output == "table") {
    std::cout << "Medians (10th to 90th percentile), messages of " << flags.race.message_bytes << " bytes.\n\n";
    races.print(std::cout);
    std::cout << "\n";
    probes.print(std::cout);
  }
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Messages between two cores by NVP and SRBP, beside a bare cache line in the same run.");
  Flags flags;
  add_flags(app, flags);
  return run_cli(app, argc, argv, [&] { return run(flags); });
}
