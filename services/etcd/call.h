// One unary call of a service that stays with gRPC C++, from the thread that receives it to the loop that finishes it.
//
// The call's messages and its default reactor live until Finish is called, even if the peer cancels or disconnects
// before. So the callback, which runs exactly once, holds plain pointers.
#pragma once

#include <grpcpp/grpcpp.h>

#include <string>
#include <utility>
#include <variant>

#include "replication/client/replica_client.h"
#include "replication/store/api.h"
#include "services/etcd/store_answer.h"
#include "services/etcd/store_request.h"
#include "services/etcd/translate.h"
#include "services/metrics/request_metrics.h"

namespace ingot::etcd {

// A plain value, copied into the callback that finishes the call. The call is counted when it begins and when it ends.
class Call {
 public:
  Call(grpc::CallbackServerContext* context, RequestMetrics& metrics, Method method)
      : reactor_(context->DefaultReactor()), metrics_(&metrics), begun_(metrics.begin(method)) {}

  grpc::ServerUnaryReactor* reactor() const { return reactor_; }

  // Called once, on one of the copies. Returns the reactor, for handlers that finish at once.
  grpc::ServerUnaryReactor* finish(const grpc::Status& status) const {
    metrics_->end(begun_, status.error_code());
    reactor_->Finish(status);
    return reactor_;
  }

 private:
  grpc::ServerUnaryReactor* reactor_;
  RequestMetrics* metrics_;
  RequestMetrics::Begun begun_;
};

// Sends `request` to the replicas and finishes `call` with their answer, translated into `response`, whose header has
// its ids already. Returns the call's reactor.
template <typename Body, typename Response>
grpc::ServerUnaryReactor* submit(ReplicaClient& client, RequestKind kind, const kv::Request& request,
                                 Response* response, const Call& call) {
  std::string payload;
  if (grpc::Status status = to_payload(request, payload); !status.ok()) return call.finish(status);
  client.submit(kind, std::move(payload), [response, call](const ReplicaReply& reply) {
    kv::Result result;
    grpc::Status status = open<Body>(reply, result);
    if (status.ok()) {
      response->mutable_header()->set_revision(result.revision);
      translate(std::get<Body>(std::move(result.body)), response);
    }
    call.finish(status);
  });
  return call.reactor();
}

}  // namespace ingot::etcd
