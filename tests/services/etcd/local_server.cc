// Serves etcd's API from one store in this process, on a free loopback port, until its standard input ends: for tests
// of the services alone, without replicas.
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "replication/pages/instance_view.h"
#include "services/etcd/services.h"
#include "services/serving/limits.h"
#include "tests/services/etcd/local_replica_client.h"

int main() {
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
  if (server == nullptr) return 1;
  config.listen = "127.0.0.1:" + std::to_string(port);
  std::printf("%s\n", config.listen.c_str());
  std::fflush(stdout);

  char ignored[64];
  while (read(STDIN_FILENO, ignored, sizeof ignored) > 0) {
  }
  server->Shutdown();
  return 0;
}
