// Clients of the process's own servers, which show that each of them answers.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_serving {

// Its requests take the way of any client's: over a connection to a loop, which has grpc.health.v1. The connections are
// pairs of Unix sockets, so neither names nor firewalls nor a lack of descriptors at a later time can break them.
// Thread-safe. To be destroyed before the servers are.
class SelfCheck {
 public:
  // Hands a server its end of a connection.
  using Connect = std::function<void(Descriptor connection)>;

  // `answered` is called by a thread of gRPC each time that all servers have answered a question. Errors:
  // RESOURCE_EXHAUSTED (no descriptors).
  static absl::StatusOr<std::unique_ptr<SelfCheck>> create(const std::vector<Connect>& servers,
                                                           std::function<void()> answered);
  // No call of `answered` follows.
  ~SelfCheck();

  // Asks all servers, unless an earlier question is still unanswered by one. Does not block.
  void ask();

 private:
  struct Shared;
  explicit SelfCheck(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  const std::shared_ptr<Shared> shared_;  // with a question that is open, which may outlive this object
};

}  // namespace ingot::services_serving
