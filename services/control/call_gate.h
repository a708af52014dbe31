// Decides for the control plane whether a caller may make a call.
#pragma once

#include <grpcpp/server_context.h>

#include <functional>
#include <string_view>

#include "absl/status/status.h"

namespace ingot::inline services_control {

// Whether the call of that context may begin; `path` is the method's. Thread-safe. Errors: PERMISSION_DENIED with one
// sentence (services/access/access_rules.h).
using CallGate = std::function<absl::Status(const grpc::CallbackServerContext& context, std::string_view path)>;

}  // namespace ingot::services_control
