// A question of Lock and Election to the replicas.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include <grpcpp/support/status.h>

#include "replication/client/replica_client.h"
#include "replication/store/api.h"
#include "services/etcd/errors.h"
#include "services/etcd/store_answer.h"
#include "services/etcd/store_request.h"

namespace ingot::locks {

// etcd's Lock and Election call its own KV by a client, whose errors lose their codes on their way: only the text is
// left. Those that say that nothing was decided keep theirs here, so that callers know that another try may help.
inline grpc::Status without_code(const grpc::Status& status) {
  return status.ok() ? status : grpc::Status(grpc::StatusCode::UNKNOWN, status.error_message());
}

// Calls then(status, revision, body) once, maybe before it returns; the body is empty unless the status is OK.
template <typename Body, typename Then>
void ask(ReplicaClient& client, RequestKind kind, const kv::Request& request, Then then) {
  if (const kv::Code code = kv::validate(request); code != kv::Code::kOk) {
    return then(without_code(etcd::to_status(code)), kv::Revision(0), Body());
  }
  std::string payload;
  if (const grpc::Status status = etcd::to_payload(request, payload); !status.ok()) {
    return then(without_code(status), kv::Revision(0), Body());
  }
  client.submit(kind, std::move(payload), [then = std::move(then)](const ReplicaReply& reply) {
    if (const grpc::Status status = etcd::to_status(reply); !status.ok()) return then(status, kv::Revision(0), Body());
    kv::Result result;
    const grpc::Status status = without_code(etcd::open<Body>(reply, result));
    if (!status.ok()) return then(status, kv::Revision(0), Body());
    then(status, result.revision, std::get<Body>(std::move(result.body)));
  });
}

}  // namespace ingot::locks
