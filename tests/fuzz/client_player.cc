// Plays one schedule of clients' actions (client_schedule.h) on a server that runs, with an ordinary client beside it.
// What the server's process should do meanwhile is for its caller to watch.
#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include "core/prng.h"
#include "services/cli/cli.h"
#include "services/cli/endpoint.h"
#include "tests/fuzz/client_schedule.h"
#include "tests/fuzz/client_sockets.h"

namespace {

struct Options {
  std::string endpoint;
  std::uint64_t seed = 0;
  std::int64_t time_ms = 2'500;
};

absl::Status play(const Options& options) {
  const absl::StatusOr<ingot::HostPort> endpoint = ingot::parse_host_port(options.endpoint);
  if (!endpoint.ok()) return endpoint.status();
  ingot::Prng rng(options.seed);
  const std::string bytes = ingot::fuzz::sample_client(rng);
  ingot::fuzz::Sockets sockets(*endpoint, std::chrono::milliseconds(options.time_ms));
  ingot::fuzz::Schedule schedule(bytes, sockets);
  schedule.run();
  std::cout << "schedule " << options.seed << ": " << schedule.acted() << " actions, " << sockets.connected()
            << " connections, " << sockets.sent_bytes() << " bytes sent, " << sockets.received_bytes()
            << " read; the ordinary client had " << sockets.ordinary_rounds() << " rounds" << std::endl;
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Plays one schedule of clients' actions on a server of etcd's API, with an ordinary client beside it.");
  Options options;
  app.add_option("--endpoint", options.endpoint, "of the server")->check(ingot::host_port())->required();
  app.add_option("--seed", options.seed, "of the schedule")->required();
  app.add_option("--time-ms", options.time_ms, "after which the schedule ends")
      ->check(ingot::whole_number(1))
      ->capture_default_str();
  return ingot::run_cli(app, argc, argv, [&] { return play(options); });
}
