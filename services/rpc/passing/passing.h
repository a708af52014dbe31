// Calls of methods that no loop serves, passed on to a gRPC C++ server in this process.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <grpcpp/channel.h>
#include <grpcpp/generic/generic_stub.h>

#include "services/rpc/passing/budget.h"
#include "services/rpc/server/call.h"
#include "services/rpc/server/methods.h"
#include "transport/host/loop_tasks.h"

namespace ingot::rpc {

class InnerCall;

// The calls that one loop passes on; used by that loop's thread. Messages are passed on as they are. Metadata goes both
// ways, and so do deadline, cancellation and status details. The next message is read from either side when the other
// side has taken the one before, so each call keeps at most one message for each direction and what the engine's own
// bounds allow. gRPC's threads hand over what has happened by the loop's LoopTasks.
//
// The caller goes along under kCallerKey.
class Passing {
 public:
  // `channel` leads to the server (grpc::Server::InProcessChannel). `loop` and `budget` outlive this object.
  Passing(std::shared_ptr<grpc::Channel> channel, LoopTasks& loop, PassedCalls& budget);
  // Cancels what is open, and waits for its end. REQUIRES: the loop has ended, or this is its thread.
  ~Passing();

  // Begins to pass on a call of the method `path`; for Methods::set_fallback. Ends it with RESOURCE_EXHAUSTED if too
  // many are open (services/rpc/passing/limits.h).
  std::unique_ptr<StreamHandler> begin(Call caller, std::string_view path);

  std::size_t open() const { return calls_.size(); }

 private:
  friend class InnerCall;
  void ended(InnerCall& call);

  grpc::GenericStub stub_;
  LoopTasks& loop_;
  PassedCalls& budget_;
  std::map<InnerCall*, std::unique_ptr<InnerCall>> calls_;
  std::map<std::string, int, std::less<>> of_caller_;  // by address: open calls
};

}  // namespace ingot::rpc
