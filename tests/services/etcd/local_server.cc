// Serves etcd's API from one store in this process, on a free loopback port, until its standard input ends: for tests
// of the services alone, without replicas.
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "replication/pages/instance_view.h"
#include "services/cli/cli.h"
#include "services/serving/solo_serving.h"
#include "services/sockets/tcp_listener.h"
#include "tests/services/etcd/local_replica_client.h"

namespace {

absl::Status serve() {
  ingot::LocalReplicaClient client(1);
  ingot::DaemonConfig config;
  config.name = "local";
  config.replicas = config.voters = 1;
  config.cluster_id = 2;
  config.member_id = 3;
  auto page = std::make_unique<ingot::ReplicaPage>();
  (*page)[ingot::ReplicaCounter::kRole].set(static_cast<std::uint64_t>(ingot::Role::kLeader));
  ingot::InstanceView view;
  view.replicas = {page.get()};

  const auto daemon = std::make_unique<ingot::DaemonPage>();
  view.daemon = daemon.get();
  config.listen = "127.0.0.1:0";
  config.metrics_listen = "";
  auto listener = ingot::claim_listen_address(config.listen, "--listen");
  if (!listener.ok()) return listener.status();
  const auto serving = ingot::SoloServing::create(config, view, client);
  if (!serving.ok()) return serving.status();
  const ingot::ListeningSockets sockets{*std::move(listener), {}};
  if (auto status = (*serving)->start(sockets); !status.ok()) return status;
  std::printf("%s\n", config.listen.c_str());
  std::fflush(stdout);

  char ignored[64];
  while (read(STDIN_FILENO, ignored, sizeof ignored) > 0) {
  }
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Serves etcd's API from one store in this process, without replicas, for tests of the services alone.");
  app.footer("Prints the address, a free port on 127.0.0.1, and ends with its standard input.");
  return ingot::run_cli(app, argc, argv, serve);
}
