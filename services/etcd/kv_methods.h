// etcdserverpb.KV on a loop: Range, Put, DeleteRange, Txn and Compact, complete. docs/etcd.md says what each call does.
#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "proto/etcd/rpc.pb.h"
#include "replication/client/replica_client.h"
#include "replication/pages/instance_view.h"
#include "replication/store/api.h"
#include "services/config/daemon_config.h"
#include "services/etcd/header.h"
#include "services/etcd/long_reads.h"
#include "services/etcd/loop_call.h"
#include "services/etcd/range_call.h"
#include "services/metrics/request_metrics.h"
#include "services/rpc/server/call.h"
#include "services/rpc/server/methods.h"

namespace ingot::etcd {

// Serves the calls of one loop, and is used by that loop's thread only. A call is checked and translated when it has
// arrived, and answered by the client's callback.
//
// The bytes of a put's key and value are copied three times between the connection's buffer and the leader's inbox:
// into the message (parsing), into the session's request (encoding), and into the inbox's lines. Messages of requests
// and answers are used again and again, so that a small call allocates little more than what waits for its answer.
class KvMethods {
 public:
  // `later` calls its argument in a later round of the loop. The arguments outlive this, and this outlives every answer
  // of `client`, which the loop's thread delivers.
  KvMethods(ReplicaClient& client, const DaemonConfig& config, const InstanceView& view, RequestMetrics& metrics,
            std::function<void(std::function<void()>)> later)
      : client_(client),
        header_(config, view),
        metrics_(metrics),
        range_parts_{client_, header_, reads_, std::move(later)} {}

  // Adds the five methods, which use this object.
  void add_to(rpc::Methods& methods);

 private:
  void range(rpc::Call caller, std::string_view bytes);
  void put(rpc::Call caller, std::string_view bytes);
  void delete_range(rpc::Call caller, std::string_view bytes);
  void txn(rpc::Call caller, std::string_view bytes);
  void compact(rpc::Call caller, std::string_view bytes);

  template <typename Body, typename Response>
  void submit(const LoopCall& call, RequestKind kind, const kv::Request& request);
  template <typename Body, typename Response>
  void answer(const LoopCall& call, const ReplicaReply& reply);

  ReplicaClient& client_;
  const HeaderSource header_;
  RequestMetrics& metrics_;
  LongReads reads_;
  const RangeParts range_parts_;
  // The messages of small puts, the most frequent calls. Their strings keep their memory from call to call.
  etcdserverpb::PutRequest put_message_;
  kv::Request put_request_{std::in_place_type<kv::PutRequest>};
  etcdserverpb::PutResponse put_response_;
};

}  // namespace ingot::etcd
