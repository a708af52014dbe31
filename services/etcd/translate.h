// etcd's protobuf messages to the store's structs and back. No state; thread-safe.
//
// Requests: the store's structs have no place for what cannot be meant (an operation of no kind, an enumerator that
// does not exist), so that is refused here; of a transaction that is refused, `out` holds what stands before the
// fault. All other checks are kv::validate's.
// Results: strings move into the answer, they are not copied.
#pragma once

#include <grpcpp/support/status.h>

#include "proto/etcd/rpc.pb.h"
#include "replication/store/api.h"

namespace ingot::etcd {

grpc::Status translate(const etcdserverpb::RangeRequest& in, kv::RangeRequest& out);
void translate(const etcdserverpb::PutRequest& in, kv::PutRequest& out);
void translate(const etcdserverpb::DeleteRangeRequest& in, kv::DeleteRangeRequest& out);
grpc::Status translate(const etcdserverpb::TxnRequest& in, kv::TxnRequest& out);

// True if the transaction may be answered from any replica's state: it holds serializable ranges and nothing else.
// REQUIRES: the transaction only reads.
bool is_serializable(const etcdserverpb::TxnRequest& txn);

// The header of `out` is the caller's; those of a transaction's operations hold the revision and nothing else, as in
// etcd. A range's keys are appended; count and more are overwritten.
void translate(kv::RangeResult&& in, etcdserverpb::RangeResponse* out);
void translate(kv::PutResult&& in, etcdserverpb::PutResponse* out);
void translate(kv::DeleteRangeResult&& in, etcdserverpb::DeleteRangeResponse* out);
void translate(kv::TxnResult&& in, etcdserverpb::TxnResponse* out);
void translate(kv::HashResult&& in, etcdserverpb::HashKVResponse* out);
void translate(kv::HashResult&& in, etcdserverpb::HashResponse* out);
inline void translate(kv::CompactResult&&, etcdserverpb::CompactionResponse*) {}

}  // namespace ingot::etcd
