// grpc.health.v1.Health on a loop. It knows the server as a whole: the service with the empty name.
#pragma once

#include <set>
#include <string_view>

#include "services/rpc/server/call.h"
#include "services/rpc/server/methods.h"

namespace ingot::etcd {

// Used by its loop's thread only. Calls are not counted: load balancers ask all the time.
class HealthMethods {
 public:
  // Adds Check and Watch, which use this object.
  void add_to(rpc::Methods& methods);

  // The server leaves: it serves no more, which watchers are told before their streams end.
  void drain();

 private:
  class Watcher;
  void check(const rpc::Call& call, std::string_view bytes) const;

  bool serving_ = true;
  std::set<Watcher*> watchers_;
};

}  // namespace ingot::etcd
