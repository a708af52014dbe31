// Serves etcd's API from one store in this process, on a free loopback port, until its standard input ends: for tests
// of the services alone, without replicas.
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "replication/pages/instance_view.h"
#include "services/cli/cli.h"
#include "services/etcd/services.h"
#include "services/serving/limits.h"
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

  ingot::RequestMetrics metrics;
  const auto services = ingot::etcd::make_services(client, config, view, metrics);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.SetMaxReceiveMessageSize(ingot::kGrpcReceiveBytesMax);
  for (const auto& service : services) builder.RegisterService(service.get());
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return absl::UnavailableError("there is no free port on 127.0.0.1");
  config.listen = "127.0.0.1:" + std::to_string(port);
  std::printf("%s\n", config.listen.c_str());
  std::fflush(stdout);

  char ignored[64];
  while (read(STDIN_FILENO, ignored, sizeof ignored) > 0) {
  }
  server->Shutdown();
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Serves etcd's API from one store in this process, without replicas, for tests of the services alone.");
  app.footer("Prints the address, a free port on 127.0.0.1, and ends with its standard input.");
  return ingot::run_cli(app, argc, argv, serve);
}
