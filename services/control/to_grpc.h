// A status of Abseil as one of gRPC, whose codes have the same numbers.
#pragma once

#include <string>

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace ingot::inline services_control {

inline grpc::Status to_grpc(const absl::Status& status) {
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message())};
}

}  // namespace ingot::services_control
