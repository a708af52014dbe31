// A client's request to the store, as the replicas take it.
#pragma once

#include <string>

#include <grpcpp/support/status.h>

#include "replication/requests/limits.h"
#include "replication/store/api.h"
#include "services/etcd/errors.h"

namespace ingot::etcd {

// Encodes it into `payload`. Errors: etcd's for one that is longer than kRequestBytesMax; that of messages between
// processes is decode_request's to check.
inline grpc::Status to_payload(const kv::Request& request, std::string& payload) {
  payload = kv::encode(request);
  return payload.size() <= kRequestBytesMax ? grpc::Status::OK : to_status(Error::kRequestTooLarge);
}

}  // namespace ingot::etcd
