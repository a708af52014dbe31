// Where a server listens: "HOST:PORT", "[IPV6]:PORT" or "unix:PATH".
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace ingot::rpc::client {

struct Target {
  std::string text;                                                        // as it was given
  std::string authority;                                                   // for HTTP/2's :authority
  std::vector<boost::asio::generic::stream_protocol::endpoint> endpoints;  // at least one; tried in this order
};

// Looks up the host's addresses, once and now: a name may take seconds. Errors, with a sentence: INVALID_ARGUMENT (the
// text has none of the forms, or the path is too long), UNAVAILABLE (the host has no address).
absl::StatusOr<Target> resolve_target(const std::string& text);

}  // namespace ingot::rpc::client
