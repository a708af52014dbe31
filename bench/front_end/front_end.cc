// bench/front_end: puts and gets per second through ingotd over gRPC, compared in the same run with two empty handlers:
// one of gRPC C++, and one on ingotd's own loop.
//
// All servers are child processes of this one and measured in turns with the engine of ingot-load on one thread. Flags
// and output only; the rest is in comparison.cc.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/child_server.h"
#include "bench/front_end/comparison.h"
#include "bench/front_end/empty_kv_server.h"
#include "bench/front_end/empty_loop_server.h"
#include "services/cli/cli.h"
#include "services/cli/duration.h"
#include "services/cli/table.h"

namespace {

using namespace ingot;
using namespace ingot::bench;

// First argument of the child, then its address; bench/against_etcd starts such servers, too.
constexpr const char* kEmptyServerRole = "@empty-server";
constexpr const char* kEmptyLoopRole = "@empty-loop";

struct Flags {
  std::string ingotd;
  std::vector<std::string> daemon_flags;
  std::vector<int> clients = {1, 32, 256};
  std::vector<std::string> operations = {"put", "get_serializable", "get_linearizable"};
  int connections = 8;
  int replicas = 3;
  int repetitions = 5;
  int value_bytes = 64;
  std::chrono::nanoseconds duration = std::chrono::seconds(1);
  std::string output = "table";
};

std::string own_path() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

void add_flags(CLI::App& app, Flags& flags) {
  flags.ingotd = own_path();
  flags.ingotd = flags.ingotd.substr(0, flags.ingotd.rfind("/bench/")) + "/services/ingotd/ingotd";
  app.add_option("--ingotd", flags.ingotd, "path of ingotd; default: beside this program");
  app.add_option("--daemon-flag", flags.daemon_flags, "one for ingotd, such as --daemon-flag=--isolation=thread");
  app.add_option("--clients", flags.clients, "numbers of clients")->delimiter(',')->capture_default_str();
  app.add_option("--operations", flags.operations, "what the clients do")
      ->delimiter(',')
      ->check(one_of({"put", "get_serializable", "get_linearizable"}))
      ->capture_default_str();
  app.add_option("--connections", flags.connections, "connections that they share, but no more than clients")
      ->capture_default_str();
  app.add_option("--replicas", flags.replicas, "of ingotd")->capture_default_str();
  app.add_option("--repetitions", flags.repetitions, "measurements of each server, of each kind")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--value-bytes", flags.value_bytes, "size of a value")->capture_default_str();
  add_duration(app, "--duration", flags.duration, "of one measurement");
  app.add_option("-o,--output", flags.output, "table or json (one object per line)")
      ->check(one_of({"table", "json"}))
      ->capture_default_str();
}

absl::StatusOr<ChildServer> start_ingotd(const Flags& flags) {
  const auto port = free_port();
  const auto metrics_port = free_port();
  if (!port.ok()) return port.status();
  if (!metrics_port.ok()) return metrics_port.status();
  const std::string endpoint = absl::StrCat("127.0.0.1:", *port);
  std::vector<std::string> command = {flags.ingotd, "--listen=" + endpoint,
                                      absl::StrCat("--metrics-listen=127.0.0.1:", *metrics_port),
                                      absl::StrCat("--replicas=", flags.replicas)};
  command.insert(command.end(), flags.daemon_flags.begin(), flags.daemon_flags.end());
  return ChildServer::start(command, endpoint);
}

absl::StatusOr<ChildServer> start_empty(const char* role) {
  const auto port = free_port();
  if (!port.ok()) return port.status();
  const std::string endpoint = absl::StrCat("127.0.0.1:", *port);
  return ChildServer::start({own_path(), role, endpoint}, endpoint);
}

double median(const std::vector<Sample>& samples, double Sample::*field) {
  std::vector<double> values;
  for (const Sample& sample : samples) values.push_back(sample.*field);
  return spread_of(std::move(values)).median;
}

Spread rates(const std::vector<Sample>& samples) {
  std::vector<double> values;
  for (const Sample& sample : samples) values.push_back(sample.per_s);
  return spread_of(std::move(values));
}

void add_server(nlohmann::ordered_json& object, const std::string& name, const std::vector<Sample>& samples) {
  const auto tenths = [](double value) { return std::round(value * 10) / 10; };
  const Spread rate = rates(samples);
  object[name + "_per_s_median"] = tenths(rate.median);
  object[name + "_per_s_min"] = tenths(rate.least);
  object[name + "_per_s_max"] = tenths(rate.most);
  object[name + "_p50_us"] = tenths(median(samples, &Sample::p50_us));
  object[name + "_p99_us"] = tenths(median(samples, &Sample::p99_us));
  object[name + "_server_cpu_us"] = tenths(median(samples, &Sample::server_cpu_us));
  object[name + "_client_cpu_us"] = tenths(median(samples, &Sample::client_cpu_us));
}

void print_json(const Comparison& comparison, int replicas) {
  const auto thousandths = [](double value) { return std::round(value * 1000) / 1000; };
  const auto& samples = comparison.samples;
  const Spread ratio = Comparison::ratio(samples.ingot, samples.empty);
  const Spread ratio_loop = Comparison::ratio(samples.ingot, samples.loop);
  const Spread loop_to_empty = Comparison::ratio(samples.loop, samples.empty);
  nlohmann::ordered_json object = {{"benchmark", "front_end"},
                                   {"operation", name_of(comparison.setting.operation)},
                                   {"clients", comparison.setting.clients},
                                   {"connections", comparison.setting.connections},
                                   {"replicas", replicas},
                                   {"value_bytes", comparison.setting.value_bytes},
                                   {"repetitions", samples.ingot.size()},
                                   {"ratio_median", thousandths(ratio.median)},
                                   {"ratio_min", thousandths(ratio.least)},
                                   {"ratio_max", thousandths(ratio.most)},
                                   {"ratio_loop_median", thousandths(ratio_loop.median)},
                                   {"ratio_loop_min", thousandths(ratio_loop.least)},
                                   {"ratio_loop_max", thousandths(ratio_loop.most)},
                                   {"loop_to_empty_median", thousandths(loop_to_empty.median)},
                                   {"loop_to_empty_min", thousandths(loop_to_empty.least)},
                                   {"loop_to_empty_max", thousandths(loop_to_empty.most)}};
  add_server(object, "ingot", samples.ingot);
  add_server(object, "empty", samples.empty);
  add_server(object, "loop", samples.loop);
  std::cout << object.dump() << std::endl;
}

void add_row(Table& table, const Comparison& comparison) {
  const auto rate = [](const std::vector<Sample>& samples) {
    const Spread spread = rates(samples);
    return absl::StrFormat("%.0f (%.0f to %.0f)", spread.median, spread.least, spread.most);
  };
  const auto cpu = [](const std::vector<Sample>& samples) {
    return absl::StrFormat("%.1f", median(samples, &Sample::server_cpu_us));
  };
  const auto ratio = [](const std::vector<Sample>& of, const std::vector<Sample>& to) {
    const Spread spread = Comparison::ratio(of, to);
    return absl::StrFormat("%.2f (%.2f to %.2f)", spread.median, spread.least, spread.most);
  };
  const auto& [ingot, empty, loop] = comparison.samples;
  table.add_row({name_of(comparison.setting.operation), absl::StrCat(comparison.setting.clients), rate(ingot),
                 rate(empty), rate(loop), ratio(ingot, empty), ratio(ingot, loop), cpu(ingot), cpu(empty), cpu(loop)});
}

absl::StatusOr<Operation> parse_operation(const std::string& name) {
  for (const auto operation : {Operation::kPut, Operation::kGetSerializable, Operation::kGetLinearizable}) {
    if (name == name_of(operation)) return operation;
  }
  return absl::InvalidArgumentError(absl::StrCat("'", name, "' is no operation"));
}

absl::Status run(const Flags& flags) {
  const auto ingotd = start_ingotd(flags);
  if (!ingotd.ok()) return ingotd.status();
  const auto empty = start_empty(kEmptyServerRole);
  if (!empty.ok()) return empty.status();
  const auto loop = start_empty(kEmptyLoopRole);
  if (!loop.ok()) return loop.status();
  absl::Status filled = put_keys(*ingotd, flags.value_bytes);
  if (!filled.ok()) return filled;

  const auto right = Table::Align::kRight;
  Table table({{"operation"},
               {"clients", right},
               {"ingotd per s", right},
               {"empty handler per s", right},
               {"empty loop per s", right},
               {"ratio", right},
               {"ratio to the loop", right},
               {"ingotd CPU us", right},
               {"empty CPU us", right},
               {"loop CPU us", right}});
  for (const std::string& name : flags.operations) {
    for (const int clients : flags.clients) {
      const auto operation = parse_operation(name);
      if (!operation.ok()) return operation.status();
      const Setting setting{*operation, clients, std::min(clients, flags.connections), flags.value_bytes};
      const auto log = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
      const auto comparison = compare(setting, {&*ingotd, &*empty, &*loop}, flags.repetitions, flags.duration, log);
      if (!comparison.ok()) return comparison.status();
      if (flags.output == "json") print_json(*comparison, flags.replicas);
      add_row(table, *comparison);
    }
  }
  if (flags.output == "table") table.print(std::cout);
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string role = argc == 3 ? argv[1] : "";
  if (role == kEmptyServerRole || role == kEmptyLoopRole) {
    const absl::Status status = role == kEmptyLoopRole ? serve_empty_loop(argv[2]) : serve_empty_kv(argv[2]);
    if (!status.ok()) std::fprintf(stderr, "front_end: %s\n", std::string(status.message()).c_str());
    return exit_code(status);
  }
  CLI::App app(
      "Puts and gets per second through ingotd over gRPC, beside empty handlers, of gRPC C++ and of ingotd's own "
      "loop, in the same run.");
  Flags flags;
  add_flags(app, flags);
  return run_cli(app, argc, argv, [&] { return run(flags); });
}
