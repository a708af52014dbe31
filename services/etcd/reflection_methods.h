// grpc.reflection.v1alpha.ServerReflection on a loop: which services there are, and their definitions.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "services/rpc/server/call.h"
#include "services/rpc/server/methods.h"

namespace ingot::etcd {

// Used by its loop's thread only.
class ReflectionMethods {
 public:
  // `others`: services that are served besides those of which methods are added.
  explicit ReflectionMethods(std::vector<std::string> others = {}) : services_(std::move(others)) {}

  // Adds the method, which uses this object and describes what `methods` has until then, itself included.
  void add_to(rpc::Methods& methods);

  // Ends all streams.
  void drain();

 private:
  class Stream;

  std::vector<std::string> services_;
  std::set<Stream*> streams_;
};

}  // namespace ingot::etcd
