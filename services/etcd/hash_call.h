// One HashKV or Hash call: asks the replicas for the hash part by part.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <grpcpp/support/status.h>

#include "replication/client/replica_client.h"
#include "replication/store/api.h"
#include "services/etcd/long_reads.h"

namespace ingot::etcd {

struct HashAnswer {
  kv::Revision revision = 0;  // the store's, when the hash began
  kv::Revision compact_revision = -1;
  std::uint32_t hash = 0;
};

// The first part fixes the revision, as a range's first page does. A compaction in between changes what is hashed: then
// the call begins again, at most kReadRestartsMax times.
//
// Lives as long as a request to the replicas is in flight. Used by one thread at a time: that of start(), then the
// client's.
class HashCall : public std::enable_shared_from_this<HashCall> {
 public:
  struct Caller {
    std::function<bool()> open;  // false: nobody waits any more
    std::function<void(const grpc::Status& status, const HashAnswer& answer)> finish;  // called once
  };
  // `revision`: 0 or less: the newest. `client` and `reads` outlive the call.
  static void start(ReplicaClient& client, LongReads& reads, kv::Revision revision, Caller caller);

 private:
  HashCall(ReplicaClient& client, LongReads& reads, kv::Revision revision, Caller caller);

  void begin();
  void go_on();
  void ask(RequestKind kind);
  void take(const ReplicaReply& reply);
  void take_part(const kv::Result& result);
  void begin_again();

  ReplicaClient& client_;
  LongReads& reads_;
  const kv::Revision asked_revision_;
  const Caller caller_;
  kv::HashRequest request_;
  RequestKind last_kind_ = RequestKind::kLinearizableQuery;
  bool in_turn_ = false;              // reads_ waits for leave()
  std::optional<HashAnswer> answer_;  // from the first part on
  std::uint64_t sum_ = 0;
  int restarts_ = 0;
};

}  // namespace ingot::etcd
