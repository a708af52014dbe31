// Reads the request of a call on a loop.
#pragma once

#include <string_view>

#include "services/etcd/errors.h"
#include "services/rpc/server/call.h"

namespace ingot::etcd {

// Ends the call, and returns false, if the bytes are no such message. Such a call is not counted.
template <typename Request>
bool parse(const rpc::Call& caller, std::string_view bytes, Request& message) {
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return true;
  caller.finish(malformed_request());
  return false;
}

}  // namespace ingot::etcd
