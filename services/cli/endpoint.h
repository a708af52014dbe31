// Addresses on command lines: "HOST:PORT", and "unix:PATH" for clients.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "absl/status/statusor.h"

namespace ingot::inline services_cli {

struct HostPort {
  std::string host;  // a name or an address; an IPv6 address without its brackets
  int port = 0;      // 0 to 65535; 0 lets the system choose, which only listeners accept
};

// InvalidArgument, with a sentence, for text that is neither HOST:PORT nor [IPV6]:PORT.
absl::StatusOr<HostPort> parse_host_port(std::string_view text);

// Accepts a HOST:PORT.
CLI::Validator host_port();

// The path of "unix:PATH". None: the text does not begin so.
std::optional<std::string> unix_path(std::string_view endpoint);

// Adds --endpoint, the address of the daemon, or of another server of etcd's API: HOST:PORT, or unix:PATH with an
// absolute path that fits a Unix socket. Its default is that of the
// environment variable INGOT_ENDPOINT or, if that is empty or not set, the value of `endpoint`, which must outlive the
// parse.
CLI::Option* add_endpoint(CLI::App& app, std::string& endpoint);

}  // namespace ingot::services_cli
