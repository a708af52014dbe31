// Translates etcd's protobuf messages to the store's structs and back. Stateless; thread-safe.
//
// Requests: what the store's structs cannot express (an operation of no kind, an enumerator that does not exist) is
// refused here; of a refused transaction, `out` holds the operations before the fault. All other checks are
// kv::validate's.
// Results: strings are moved into the answer, not copied.
#pragma once

#include <grpcpp/support/status.h>

#include "proto/etcd/rpc.pb.h"
#include "replication/store/api.h"

namespace ingot::etcd {

grpc::Status translate(const etcdserverpb::RangeRequest& in, kv::RangeRequest& out);
void translate(const etcdserverpb::PutRequest& in, kv::PutRequest& out);
// The same, but key and value change places with those of `out`: nothing is copied, and both keep their memory.
void swap_in(etcdserverpb::PutRequest& in, kv::PutRequest& out);
void translate(const etcdserverpb::DeleteRangeRequest& in, kv::DeleteRangeRequest& out);
grpc::Status translate(const etcdserverpb::TxnRequest& in, kv::TxnRequest& out);

// True if any replica's state may answer the transaction: it holds serializable ranges and nothing else. REQUIRES: the
// transaction only reads.
bool is_serializable(const etcdserverpb::TxnRequest& txn);

void translate(kv::KeyValue&& in, mvccpb::KeyValue* out);

// The caller fills the header of `out`; headers of a transaction's operations hold the revision only, as in etcd. A
// range's keys are appended; count and more are overwritten.
void translate(kv::RangeResult&& in, etcdserverpb::RangeResponse* out);
void translate(kv::PutResult&& in, etcdserverpb::PutResponse* out);
void translate(kv::DeleteRangeResult&& in, etcdserverpb::DeleteRangeResponse* out);
void translate(kv::TxnResult&& in, etcdserverpb::TxnResponse* out);
void translate(kv::AlarmResult&& in, etcdserverpb::AlarmResponse* out);  // of the member that the header names
inline void translate(kv::CompactResult&&, etcdserverpb::CompactionResponse*) {}

}  // namespace ingot::etcd
