#include "services/rpc/passing/metadata.h"

#include <grpc/grpc.h>
#include <grpc/slice.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "services/access/caller_codec.h"
#include "services/rpc/passing/limits.h"

namespace ingot::rpc::inline passing {

namespace {

// Names that a connection's own ends write and read. All that begin with "grpc-" are gRPC's.
bool is_reserved(std::string_view name) {
  constexpr std::array<std::string_view, 5> kReserved{"te", "content-type", "user-agent", "host", kCallerKey};
  return name.empty() || name.front() == ':' || name.substr(0, 5) == "grpc-" ||
         std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
}

// gRPC C++ ends the process for metadata that it does not take.
bool is_legal(std::string_view name, std::string_view value) {
  const grpc_slice key = grpc_slice_from_static_buffer(name.data(), name.size());
  const grpc_slice text = grpc_slice_from_static_buffer(value.data(), value.size());
  return grpc_header_key_is_legal(key) != 0 &&
         (grpc_is_binary_header(key) != 0 || grpc_header_nonbin_value_is_legal(text) != 0);
}

}  // namespace

void pass_metadata(const Call& call, const Caller& from, grpc::ClientContext& context) {
  std::size_t left = kPassedMetadataBytesMax;
  for (auto& [name, value] : call.all_metadata()) {
    const std::size_t bytes = name.size() + value.size();
    if (is_reserved(name) || bytes > left || !is_legal(name, value)) continue;
    left -= bytes;
    context.AddMetadata(name, value);
  }
  context.AddMetadata(kCallerKey, encode_caller(from));
}

Metadata metadata_of(const std::multimap<grpc::string_ref, grpc::string_ref>& sent) {
  Metadata metadata;
  for (const auto& [name, value] : sent) {
    const std::string_view key(name.data(), name.size());
    if (!is_reserved(key)) metadata.emplace_back(key, std::string(value.data(), value.size()));
  }
  return metadata;
}

}  // namespace ingot::rpc::passing
