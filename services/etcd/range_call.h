// One Range call: asks the replicas page by page and finishes with the whole answer, all of one revision.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstddef>

#include "proto/etcd/rpc.pb.h"
#include "replication/client/replica_client.h"
#include "replication/store/api.h"
#include "services/etcd/call.h"

namespace ingot::etcd {

// Owns itself: start() makes one, and it deletes itself when it finishes the call. Its steps run one after another, the
// first on the gRPC thread, the others on the client's loop.
//
// The first page fixes the revision; its read is linearizable unless the call is serializable. The other pages ask for
// exactly that revision, so any replica that has reached it may answer. A replica that has not reached it refuses, and
// the page is asked for again as a linearizable query, which a replica that lags cannot answer. If a compaction passes
// the revision between two pages, and the caller did not ask for that very revision, the call begins again, at most
// kRangeRestartsMax times.
class RangeCall {
 public:
  // `response` has its header's ids already. `request` is validated.
  static void start(ReplicaClient& client, kv::RangeRequest request, bool serializable,
                    etcdserverpb::RangeResponse* response, grpc::CallbackServerContext* context, const Call& call);

 private:
  RangeCall(ReplicaClient& client, kv::RangeRequest request, bool serializable,
            etcdserverpb::RangeResponse* response, grpc::CallbackServerContext* context, const Call& call);

  void begin();
  void begin_again();
  void ask(RequestKind kind);
  void take(const ReplicaReply& reply);
  void take_page(kv::Result&& result);
  void finish(const grpc::Status& status);

  bool is_first_page() const { return request_.offset == 0; }

  ReplicaClient& client_;
  kv::RangeRequest request_;
  const kv::Revision asked_revision_;  // 0 or less: the newest
  const bool serializable_;
  RequestKind last_kind_ = RequestKind::kLinearizableQuery;
  etcdserverpb::RangeResponse* const response_;
  grpc::CallbackServerContext* const context_;
  const Call call_;
  std::size_t answer_bytes_ = 0;
  int restarts_ = 0;
};

}  // namespace ingot::etcd
