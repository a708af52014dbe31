// A client of the process's own gRPC server, which shows that the server answers.
#pragma once

#include <functional>
#include <memory>

#include <grpcpp/channel.h>
#include <grpcpp/server.h>

#include "absl/status/statusor.h"

namespace ingot {

// Its requests take the way of any client's: over a connection, through the server's threads, to a service
// (grpc.health.v1). The connection is a pair of Unix sockets, so neither names nor firewalls nor a lack of descriptors
// at a later time can break it. Thread-safe. To be destroyed before the server is.
class SelfCheck {
 public:
  // `answered` is called by a thread of gRPC for each request that was answered. Errors: RESOURCE_EXHAUSTED (no
  // descriptors).
  static absl::StatusOr<std::unique_ptr<SelfCheck>> create(grpc::Server& server, std::function<void()> answered);
  // No call of `answered` follows.
  ~SelfCheck();

  // Sends a request, unless an earlier one is still unanswered. Does not block.
  void ask();

 private:
  struct Shared;
  SelfCheck(std::shared_ptr<grpc::Channel> channel, std::function<void()> answered);

  const std::shared_ptr<grpc::Channel> channel_;
  const std::shared_ptr<Shared> shared_;  // with a request in flight, which may outlive this object
};

}  // namespace ingot
