// The outcome of a request, as far as its client can tell.
#pragma once

#include <cstdint>

#include <grpcpp/support/status.h>

namespace ingot::load {

enum class Outcome : std::uint8_t {
  kAcknowledged,  // carried out
  kFailed,        // certainly not carried out
  kUnknown,       // may have been carried out, or may still be
};

// By status code. Codes with which a server refuses a request before it does anything mean failed. A lost connection, a
// deadline or a server's internal error may come after the write was agreed on: unknown.
inline Outcome outcome_of(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
      return Outcome::kAcknowledged;
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::NOT_FOUND:
    case grpc::StatusCode::ALREADY_EXISTS:
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::OUT_OF_RANGE:
    case grpc::StatusCode::UNIMPLEMENTED:
      return Outcome::kFailed;
    default:
      return Outcome::kUnknown;
  }
}

}  // namespace ingot::load
