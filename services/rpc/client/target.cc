#include "services/rpc/client/target.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "services/cli/endpoint.h"
#include "services/rpc/client/limits.h"

namespace ingot::rpc::client {
namespace {

namespace asio = boost::asio;

constexpr const char* kUnixPrefix = "unix:";

// "unix:PATH", or "unix:///PATH" with an absolute path, as gRPC has it.
absl::StatusOr<Target> unix_target(const std::string& text) {
  std::string path = text.substr(std::string(kUnixPrefix).size());
  if (absl::StartsWith(path, "///")) path.erase(0, 2);
  if (path.empty() || path.size() > kUnixPathBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", text, "' names no socket; write unix:PATH, with a path of 1 to ", kUnixPathBytesMax, " bytes"));
  }
  return Target{text, "localhost", {asio::local::stream_protocol::endpoint(path)}};
}

}  // namespace

absl::StatusOr<Target> resolve_target(const std::string& text) {
  if (absl::StartsWith(text, kUnixPrefix)) return unix_target(text);
  const absl::StatusOr<HostPort> address = parse_host_port(text);
  if (!address.ok()) return address.status();
  Target target{text, text, {}};
  asio::io_context io;
  boost::system::error_code error;
  const auto found = asio::ip::tcp::resolver(io).resolve(address->host, std::to_string(address->port),
                                                         asio::ip::tcp::resolver::numeric_service, error);
  for (const auto& entry : found) target.endpoints.emplace_back(entry.endpoint());
  if (error || target.endpoints.empty()) {
    return absl::UnavailableError(absl::StrCat("the host of '", text, "' has no address: ", error.message()));
  }
  return target;
}

}  // namespace ingot::rpc::client
