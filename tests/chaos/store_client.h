// A client of etcd's key-value API that knows the outcome of its requests: blocking, with its own connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <grpcpp/channel.h>

#include "proto/etcd/rpc.grpc.pb.h"
#include "services/ingot_load/outcome.h"
#include "tests/chaos/recorded.h"

namespace ingot::chaos {

std::uint64_t now_ns();  // monotonic

// A connection of its own, which is soon tried again when it is lost. No request is sent twice.
std::shared_ptr<grpc::Channel> channel_to(const std::string& endpoint);

// Not thread-safe: one request at a time.
class StoreClient {
 public:
  explicit StoreClient(const std::string& endpoint);

  // Waits until there is a connection, for `patience` at most: without one, every request would end with an unknown
  // outcome.
  bool connected(std::chrono::milliseconds patience);

  // Executes the operation and fills in the answer; without one, `operation` has no end time.
  load::Outcome carry_out(Recorded& operation);

  struct Version {
    std::uint32_t value = 0;
    std::int64_t revision = 0;  // of the write that made this version
  };
  // The key's version at that revision of the store; nothing if the answer was an error.
  std::optional<Version> look_up(const std::string& key, std::int64_t revision);

  const std::string& last_error() const { return last_error_; }

 private:
  grpc::Status get(Recorded& operation, grpc::ClientContext& context);
  grpc::Status put(Recorded& operation, grpc::ClientContext& context);
  grpc::Status cas(Recorded& operation, grpc::ClientContext& context);

  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<etcdserverpb::KV::Stub> stub_;
  std::string last_error_;
};

}  // namespace ingot::chaos
