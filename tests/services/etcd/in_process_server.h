// etcd's services on real stores, behind a real gRPC server on a loopback port, for tests of single calls.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <vector>

#include "core/check.h"
#include "proto/etcd/rpc.grpc.pb.h"
#include "replication/pages/instance_view.h"
#include "services/etcd/services.h"
#include "services/serving/limits.h"
#include "tests/services/etcd/local_replica_client.h"

namespace ingot {

// Two replicas: the nearest one, which answers local queries, follows.
class InProcessServer {
 public:
  InProcessServer() {
    config.name = "test";
    config.replicas = config.voters = 2;
    config.cluster_id = 12;
    config.member_id = 34;
    for (auto& page : pages) {
      page = std::make_unique<ReplicaPage>();
      view.replicas.push_back(page.get());
    }
    services_ = etcd::make_services(client, config, view, metrics);
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.SetMaxReceiveMessageSize(static_cast<int>(kGrpcReceiveBytesMax));
    for (const auto& service : services_) builder.RegisterService(service.get());
    server_ = builder.BuildAndStart();
    INGOT_CHECK(server_ != nullptr);
    config.listen = "127.0.0.1:" + std::to_string(port);
  }

  // A new connection.
  std::shared_ptr<grpc::Channel> connect() const {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(config.listen, grpc::InsecureChannelCredentials(), arguments);
  }

  LocalReplicaClient client{2};
  DaemonConfig config;
  std::unique_ptr<ReplicaPage> pages[2];
  InstanceView view;
  RequestMetrics metrics;

 private:
  std::vector<std::unique_ptr<grpc::Service>> services_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace ingot
