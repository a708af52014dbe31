// Why a request failed, in etcd's words: Go clients recognise errors by the text, so each is that of etcd 3.4 to the
// letter. All functions are thread-safe and stateless.
#pragma once

#include <grpcpp/support/status.h>

#include <cstddef>

#include "replication/client/replica_client.h"
#include "replication/store/api.h"

namespace ingot::etcd {

// The errors of etcd that the store does not raise: X(name, gRPC code, text).
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

// For bytes that are no message of the method's type. etcd's text begins the same.
grpc::Status malformed_request();

// Ingot bounds answers and etcd does not, so the text is Ingot's own.
grpc::Status answer_too_large(std::size_t bytes_max);

// Nothing like it exists in etcd, whose compaction waits for reads.
grpc::Status overtaken_by_compactions();

// The error for a request that the store refused. REQUIRES: code is not kOk.
grpc::Status to_status(kv::Code code);

// The error for a request that the replicas refused or did not answer; OK for kOk. "too many requests", and Ingot's own
// sentence on a blocked group, mean that nothing was done. "request timed out" means that the request may have been
// done or may still be.
grpc::Status to_status(const ReplicaReply& reply);

}  // namespace ingot::etcd
