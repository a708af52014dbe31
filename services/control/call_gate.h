// Tells the control plane who has made a call, and whether they may.
#pragma once

#include <grpcpp/server_context.h>

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace ingot::inline services_control {

// Both are thread-safe.
struct CallGate {
  // Whether the call of that context may begin; `path` is the method's. Errors: PERMISSION_DENIED with one sentence
  // (services/access/access_rules.h).
  std::function<absl::Status(const grpc::CallbackServerContext& context, std::string_view path)> may;
  // Its connection, as logs name it; empty: a call of this process's own.
  std::function<std::string(const grpc::CallbackServerContext& context)> caller;
};

}  // namespace ingot::services_control
