// Addresses on command lines: "HOST:PORT".
#pragma once

#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "absl/status/statusor.h"

namespace ingot {

struct HostPort {
  std::string host;  // a name or an address; an IPv6 address without its brackets
  int port = 0;      // 0 to 65535; 0 lets the system choose, which only listeners accept
};

// InvalidArgument, with a sentence, for text that is neither HOST:PORT nor [IPV6]:PORT.
absl::StatusOr<HostPort> parse_host_port(std::string_view text);

// Accepts a HOST:PORT.
CLI::Validator host_port();

}  // namespace ingot
