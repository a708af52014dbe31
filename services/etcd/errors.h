// Why a request failed, in etcd's words: Go clients recognise errors by the text, so each is that of etcd 3.4 to the
// letter. All functions are thread-safe and stateless.
#pragma once

#include <grpcpp/support/status.h>

#include <cstddef>

#include "replication/client/replica_client.h"
#include "replication/store/api.h"

namespace ingot::etcd {

// The errors of etcd that the store does not raise: X(name, gRPC code, text).
#define INGOT_ETCD_ERRORS(X)                                                                          \
  X(kInvalidSortOption, INVALID_ARGUMENT, "etcdserver: invalid sort option")                          \
  X(kRequestTooLarge, INVALID_ARGUMENT, "etcdserver: request is too large")                           \
  X(kTooManyRequests, RESOURCE_EXHAUSTED, "etcdserver: too many requests")                            \
  X(kTimeout, UNAVAILABLE, "etcdserver: request timed out")                                           \
  X(kNoLeader, UNAVAILABLE, "etcdserver: no leader")                                                  \
  X(kAuthNotEnabled, FAILED_PRECONDITION, "etcdserver: authentication is not enabled")                \
  X(kMemberNotFound, NOT_FOUND, "etcdserver: member not found")                                       \
  X(kNotLearner, FAILED_PRECONDITION, "etcdserver: can only promote a learner member")                \
  X(kBadTransferee, FAILED_PRECONDITION, "etcdserver: bad leader transferee")                         \
  X(kDowngradeTarget, INVALID_ARGUMENT, "etcdserver: invalid downgrade target version")

enum class Error {
#define INGOT_X(name, code, text) name,
  INGOT_ETCD_ERRORS(INGOT_X)
#undef INGOT_X
};

const char* text_of(Error error);
grpc::Status to_status(Error error);

// For bytes that are no message of the method's type. etcd's text begins the same.
grpc::Status malformed_request();

// What helps when the answer would be too long: each names only what such a request has.
inline constexpr const char* kSmallerRange = "ask for fewer keys, or use limit";
inline constexpr const char* kSmallerDeletion = "delete fewer keys at once, or without prev_kv";
inline constexpr const char* kSmallerTxn =
    "let its ranges and its deletions with prev_kv return fewer keys, or split it";
inline constexpr const char* kSmallerTimeToLive = "ask without the keys";

// Of a stream that a server ends which leaves.
grpc::Status server_stopped();

// Nothing like it exists in etcd, whose compaction waits for reads.
grpc::Status overtaken_by_compactions();
// Of a read that nobody waits for any more.
grpc::Status caller_gone();
// The results of a sort are held until all are there.
grpc::Status sort_too_large(std::size_t bytes_max);

// Ingot bounds answers and etcd does not, so the text is Ingot's own. `smaller` is one of the above.
grpc::Status answer_too_large(std::size_t bytes_max, const char* smaller);

// The error for a request that the store refused. REQUIRES: code is not kOk. Of kResultTooLarge, whose advice depends
// on the request, answer_too_large says more.
grpc::Status to_status(kv::Code code);

// The error for a request that the replicas refused or did not answer; OK for kOk. "too many requests", and Ingot's own
// sentence on a blocked group, mean that nothing was done. "request timed out" means that the request may have been
// done or may still be.
grpc::Status to_status(const ReplicaReply& reply);

}  // namespace ingot::etcd
