// A unary call that is one request to the store.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include <grpcpp/support/status.h>

#include "replication/client/replica_client.h"
#include "replication/store/api.h"
#include "services/etcd/header.h"
#include "services/etcd/loop_call.h"
#include "services/etcd/store_answer.h"
#include "services/etcd/store_request.h"

namespace ingot::etcd {

// Sends `request` to the replicas, and answers `call` with a Response that has its header and what
// fill(body, response) puts into it. The references outlive the client's answer.
template <typename Body, typename Response, typename Fill>
void ask_store(ReplicaClient& client, const HeaderSource& header, const LoopCall& call, RequestKind kind,
               const kv::Request& request, Fill fill) {
  std::string payload;
  if (const grpc::Status status = to_payload(request, payload); !status.ok()) return call.finish(status);
  client.submit(kind, std::move(payload), [&header, call, fill = std::move(fill)](const ReplicaReply& reply) {
    kv::Result result;
    if (const grpc::Status status = open<Body>(reply, result); !status.ok()) return call.finish(status);
    Response response;
    header.fill(response.mutable_header());
    response.mutable_header()->set_revision(result.revision);
    fill(std::get<Body>(std::move(result.body)), response);
    call.answer(response);
  });
}

}  // namespace ingot::etcd
