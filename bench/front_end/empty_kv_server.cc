#include "bench/front_end/empty_kv_server.h"

#include <signal.h>

#include <chrono>

#include "proto/etcd/rpc.grpc.pb.h"
#include "services/serving/grpc_server.h"

namespace ingot::bench {
namespace {

namespace pb = etcdserverpb;

class EmptyKv final : public pb::KV::CallbackService {
 public:
  grpc::ServerUnaryReactor* Put(grpc::CallbackServerContext* context, const pb::PutRequest*,
                                pb::PutResponse* reply) override {
    return finish(context, reply->mutable_header());
  }
  grpc::ServerUnaryReactor* Range(grpc::CallbackServerContext* context, const pb::RangeRequest*,
                                  pb::RangeResponse* reply) override {
    return finish(context, reply->mutable_header());
  }

 private:
  // Fills in the header, which clients need.
  static grpc::ServerUnaryReactor* finish(grpc::CallbackServerContext* context, pb::ResponseHeader* header) {
    header->set_cluster_id(1);
    header->set_member_id(1);
    header->set_revision(1);
    header->set_raft_term(1);
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

}  // namespace

absl::Status serve_empty_kv(const std::string& address) {
  // Blocked before gRPC starts its threads, so that all inherit it and only sigwait gets the signal.
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  EmptyKv service;
  auto server = start_grpc_server(address, {&service});
  if (!server.ok()) return server.status();
  int signal = 0;
  sigwait(&stop, &signal);
  (*server)->Shutdown(std::chrono::system_clock::now());
  return absl::OkStatus();
}

}  // namespace ingot::bench
