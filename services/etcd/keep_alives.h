// The keep-alives of one loop: those of all its streams go to the replicas together, and each stream is answered in the
// order in which it has asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <grpcpp/support/status.h>

#include "absl/container/flat_hash_set.h"
#include "replication/client/replica_client.h"
#include "replication/store/api.h"
#include "services/etcd/header.h"
#include "services/metrics/request_metrics.h"
#include "services/rpc/server/call.h"
#include "services/rpc/server/methods.h"

namespace ingot::etcd {

// One command is under way at a time; what comes meanwhile makes the next one. A keep-alive is answered when it is
// decided: so ticks of the leases' time that are decided after it have seen it.
//
// Used by its loop's thread only. It outlives every answer of `client` and every stream.
class KeepAlives {
 public:
  KeepAlives(ReplicaClient& client, const HeaderSource& header) : client_(client), header_(header) {}
  KeepAlives(const KeepAlives&) = delete;
  KeepAlives& operator=(const KeepAlives&) = delete;

  std::unique_ptr<rpc::StreamHandler> begin(const rpc::Call& call, RequestMetrics& metrics);

  // Ends all streams.
  void end(const grpc::Status& status);

 private:
  class Handler;
  // One stream: shared by its handler and by its keep-alives that are not answered yet.
  struct Stream {
    Stream(const rpc::Call& its_call, RequestMetrics& metrics)
        : call(its_call), timer(metrics, Method::kLeaseKeepAlive) {}

    const rpc::Call call;
    RequestTimer timer;
    std::size_t waiting = 0;   // keep-alives without an answer
    bool half_closed = false;  // the client sends no more: the stream ends with its last answer
    bool held_back = false;    // it is in held_back_
    bool had_room = false;     // since it was held back the last time
    bool over = false;
  };
  using StreamPtr = std::shared_ptr<Stream>;
  struct Asked {
    StreamPtr stream;
    std::int64_t id;
  };

  void ask(const StreamPtr& stream, std::int64_t id);
  bool takes_more(const StreamPtr& stream);
  void end_if_done(Stream& stream);
  void end(Stream& stream, const grpc::Status& status);
  void send();
  void take(const std::vector<Asked>& batch, const ReplicaReply& reply);
  void answer(const std::vector<Asked>& batch, const kv::Result& result);
  void fail(const std::vector<Asked>& batch, const grpc::Status& status);
  void resume();

  ReplicaClient& client_;
  const HeaderSource& header_;
  std::deque<Asked> queue_;  // not sent yet
  bool under_way_ = false;
  bool sending_ = false;  // in send(), whose command may be answered before it returns
  absl::flat_hash_set<Stream*> streams_;
  std::vector<StreamPtr> held_back_;  // their messages wait
};

}  // namespace ingot::etcd
