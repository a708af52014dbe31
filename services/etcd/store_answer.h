// The store's answer to a request, as the replicas have returned it.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include <grpcpp/support/status.h>

#include "absl/status/statusor.h"
#include "replication/client/replica_client.h"
#include "replication/store/api.h"
#include "replication/store/limits.h"
#include "services/etcd/errors.h"

namespace ingot::etcd {

// How a request whose answer holds such a body can ask for less.
template <typename Body>
constexpr const char* smaller_request() {
  if constexpr (std::is_same_v<Body, kv::DeleteRangeResult>) return kSmallerDeletion;
  if constexpr (std::is_same_v<Body, kv::TxnResult>) return kSmallerTxn;
  if constexpr (std::is_same_v<Body, kv::LeaseTimeToLiveResult>) return kSmallerTimeToLive;
  return kSmallerRange;
}

// Decodes the replicas' answer. If the status is OK, `result` holds a Body.
template <typename Body>
grpc::Status open(const ReplicaReply& reply, kv::Result& result) {
  if (grpc::Status status = to_status(reply); !status.ok()) return status;
  absl::StatusOr<kv::Result> decoded = kv::decode_result(reply.payload);
  if (!decoded.ok()) {
    return {grpc::StatusCode::INTERNAL, "the store's answer could not be read; the request may have been carried out"};
  }
  result = *std::move(decoded);
  if (result.code == kv::Code::kResultTooLarge) return answer_too_large(kResultBytesMax, smaller_request<Body>());
  if (result.code != kv::Code::kOk) return to_status(result.code);
  if (!std::holds_alternative<Body>(result.body)) {
    return {grpc::StatusCode::INTERNAL, "the store answered something else; the request may have been carried out"};
  }
  return grpc::Status::OK;
}

}  // namespace ingot::etcd
