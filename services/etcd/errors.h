// Why a request failed, in etcd's own words: Go clients recognise errors by the text, so each is etcd 3.4's to the
// letter. Everything here is thread-safe and has no state.
#pragma once

#include <grpcpp/support/status.h>

#include <cstddef>

#include "replication/store/api.h"
#include "replication/client/replica_client.h"

namespace ingot::etcd {

// The errors of etcd that the store knows nothing of: X(name, gRPC code, text).
#define INGOT_ETCD_ERRORS(X)                                                    \
  X(kInvalidSortOption, INVALID_ARGUMENT, "etcdserver: invalid sort option")    \
  X(kRequestTooLarge, INVALID_ARGUMENT, "etcdserver: request is too large")     \
  X(kTooManyRequests, RESOURCE_EXHAUSTED, "etcdserver: too many requests")      \
  X(kTimeout, UNAVAILABLE, "etcdserver: request timed out")                     \
  X(kNoLeader, UNAVAILABLE, "etcdserver: no leader")                            \
  X(kAuthNotEnabled, FAILED_PRECONDITION, "etcdserver: authentication is not enabled")

enum class Error {
#define INGOT_X(name, code, text) name,
  INGOT_ETCD_ERRORS(INGOT_X)
#undef INGOT_X
};

const char* text_of(Error error);
grpc::Status to_status(Error error);

// Ingot bounds answers, etcd does not; so the words are ours.
grpc::Status answer_too_large(std::size_t bytes_max);

// The store's refusal. REQUIRES: code is not kOk.
grpc::Status to_status(kv::Code code);

// The replicas' silence or refusal; OK for kOk. "too many requests" means that nothing was done; so does a sentence on who
// is blocked, which is ours: etcd has no such state. "request timed out": it may have been done, or may still be.
grpc::Status to_status(const ReplicaReply& reply);

}  // namespace ingot::etcd
