// etcd's services on real stores, served on a loopback port as ingotd serves them, for tests of single calls.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <utility>

#include "core/check.h"
#include "proto/etcd/rpc.grpc.pb.h"
#include "replication/pages/instance_view.h"
#include "services/rpc/server/limits.h"
#include "services/serving/solo_serving.h"
#include "services/sockets/tcp_listener.h"
#include "tests/services/etcd/local_replica_client.h"

namespace ingot {

// Two replicas: the nearest one, which answers local queries, follows.
class InProcessServer {
 public:
  explicit InProcessServer(kv::Quota quota = kv::Quota()) : client(2, quota) {
    config.name = "test";
    config.replicas = config.voters = 2;
    config.cluster_id = 12;
    config.member_id = 34;
    config.listen = "127.0.0.1:0";
    config.metrics_listen = "";
    for (auto& page : pages) {
      page = std::make_unique<ReplicaPage>();
      view.replicas.push_back(page.get());
    }
    view.daemon = daemon_.get();
    auto listener = claim_listen_address(config.listen, "--listen");
    INGOT_CHECK(listener.ok());
    auto serving = SoloServing::create(config, view, client);
    INGOT_CHECK(serving.ok());
    serving_ = *std::move(serving);
    const ListeningSockets sockets{*std::move(listener), {}};
    INGOT_CHECK(serving_->start(sockets).ok());
  }

  // A new connection.
  std::shared_ptr<grpc::Channel> connect() const {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(config.listen, grpc::InsecureChannelCredentials(), arguments);
  }

  LocalReplicaClient client;
  DaemonConfig config;
  std::unique_ptr<ReplicaPage> pages[2];
  InstanceView view;

 private:
  std::unique_ptr<DaemonPage> daemon_ = std::make_unique<DaemonPage>();
  std::unique_ptr<SoloServing> serving_;
};

}  // namespace ingot
