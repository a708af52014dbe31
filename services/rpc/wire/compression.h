// Messages that a peer has compressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace ingot::rpc::inline wire {

inline constexpr std::string_view kAcceptedEncodings =
    "identity, deflate, gzip";  // as gRPC C++; for grpc-accept-encoding

enum class Encoding : std::uint8_t {
  kIdentity,
  kCompressed,  // gzip or deflate: a message says itself which
  kUnknown,
};

// By the value of grpc-encoding; without one: identity.
Encoding encoding_of(std::string_view name);

// Never makes more than `bytes_max` bytes (and kInflateStep), however much the message would become. Errors:
// RESOURCE_EXHAUSTED (it would become more than `bytes_max`), INTERNAL (neither gzip nor zlib, cut off, or followed by
// something else).
absl::StatusOr<std::string> inflate_message(std::string_view compressed, std::size_t bytes_max);

// With gzip's header.
std::string gzip_message(std::string_view message);

}  // namespace ingot::rpc::wire
