#include "client/ingot/instance_sockets.h"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/host/instance_paths.h"

namespace ingot::inline client_ingot {

namespace {

using Paths = absl::StatusOr<std::vector<std::string>>;

constexpr std::string_view kUnix = "unix:";
constexpr const char* kDefaultInstance = "127.0.0.1:2379";

absl::Status wrong(std::string_view instance, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("\"", std::string(instance), "\" ", why,
                                                 "; an instance is called NAME, HOST:PORT or unix:/PATH"));
}

// Nothing: no number from 1 to 65535.
std::optional<int> port_of(std::string_view text) {
  int port = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), port);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || port < 1 || port > 65'535) return std::nullopt;
  return port;
}

Paths at_path(std::string_view instance, std::string_view path) {
  if (!path.starts_with('/')) return wrong(instance, "is no absolute path");
  std::string socket = view_socket_path(std::string(path));
  if (socket.size() > kUnixPathBytesMax) {
    return wrong(instance, absl::StrCat("is too long: the view socket's path would have ", socket.size(), " bytes of ",
                                        kUnixPathBytesMax));
  }
  return std::vector<std::string>{std::move(socket)};
}

Paths named(std::string_view instance, const std::string& name) {
  std::vector<std::string> sockets;
  for (const std::string& path : default_socket_paths(name)) {
    std::string socket = view_socket_path(path);
    if (socket.size() <= kUnixPathBytesMax) sockets.push_back(std::move(socket));
  }
  if (sockets.empty()) return wrong(instance, "is too long for a socket's path");
  return sockets;
}

bool is_this_machine(std::string_view host) {
  return host == "localhost" || host.starts_with("127.") || host == "[::1]" || host == "::1";
}

Paths at_port(std::string_view instance) {
  const std::size_t colon = instance.rfind(':');
  const std::string_view host = instance.substr(0, colon);
  const auto port = port_of(instance.substr(colon + 1));
  if (!port) return wrong(instance, "has no port from 1 to 65535");
  if (!is_this_machine(host)) {
    return wrong(instance, "is another machine's address, and a view is read on the instance's own machine");
  }
  return named(instance, default_instance_name(*port));
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// As ingotctl, which asks the instance at the endpoint for its socket, too.
Paths by_environment() {
  const std::string endpoint = variable("INGOT_ENDPOINT");
  if (endpoint.starts_with(kUnix)) return view_sockets_of(endpoint);
  const std::string socket = variable("INGOT_SOCKET");
  if (!socket.empty() && socket != "auto") return at_path(socket, socket);
  if (socket.empty() && std::getenv("INGOT_SOCKET") != nullptr) {
    return absl::NotFoundError("the environment variable INGOT_SOCKET is empty: no instance is looked for");
  }
  return view_sockets_of(endpoint.empty() ? kDefaultInstance : endpoint);
}

}  // namespace

Paths view_sockets_of(std::string_view instance) {
  if (instance.empty()) return by_environment();
  if (instance.starts_with('/')) return at_path(instance, instance);
  if (instance.starts_with(kUnix)) return at_path(instance, instance.substr(kUnix.size()));
  if (instance.find(':') != std::string_view::npos) return at_port(instance);
  if (instance.find('/') != std::string_view::npos) return wrong(instance, "is no absolute path");
  return named(instance, std::string(instance));
}

}  // namespace ingot::client_ingot
