// One call of a stub, and what its error should be.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

#include "proto/etcd/rpc.pb.h"

namespace ingot {

namespace pb = etcdserverpb;

template <typename Stub, typename Method, typename Request, typename Response>
grpc::Status call(Stub& stub, Method method, const Request& request, Response& response) {
  grpc::ClientContext context;
  return (stub.*method)(&context, request, &response);
}

inline pb::PutRequest put_request(const std::string& key, const std::string& value) {
  pb::PutRequest request;
  request.set_key(key);
  request.set_value(value);
  return request;
}

inline void check_error(const grpc::Status& status, grpc::StatusCode code, const std::string& text) {
  CHECK(status.error_code() == code);
  CHECK(status.error_message() == text);
}

}  // namespace ingot
