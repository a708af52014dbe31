#include "services/sockets/configured_socket.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "services/config/limits.h"
#include "services/sockets/socket_path.h"

namespace ingot::inline services_sockets {

namespace {

absl::StatusOr<ConfiguredSocket> open_default(DaemonConfig& config, const SocketRights& rights) {
  ConfiguredSocket opened;
  std::string reasons;
  for (const std::string& path : default_socket_paths(config.name)) {
    auto listener = UnixListener::bind(path, rights);
    if (listener.ok()) {
      config.socket = path;
      opened.listener = *std::move(listener);
      return opened;
    }
    if (absl::IsAlreadyExists(listener.status())) return listener.status();
    absl::StrAppend(&reasons, reasons.empty() ? "" : "; ", std::string(listener.status().message()));
  }
  config.socket.clear();
  opened.why_none = absl::StrCat("there is no Unix socket, so drills and moves are refused, until --socket=PATH names ",
                                 "one that this user can make", reasons.empty() ? "" : ": ", reasons);
  return opened;
}

}  // namespace

absl::StatusOr<ConfiguredSocket> open_configured_socket(DaemonConfig& config) {
  if (config.socket.empty()) return ConfiguredSocket{};
  const auto rights = socket_rights(config.socket_mode, config.socket_group);
  if (!rights.ok()) return rights.status();
  if (config.socket == kAutomaticSocket) return open_default(config, *rights);
  auto listener = UnixListener::bind(config.socket, *rights);
  if (!listener.ok()) return listener.status();
  return ConfiguredSocket{*std::move(listener), ""};
}

absl::StatusOr<UnixListener> open_socket_again(const DaemonConfig& config) {
  const auto rights = socket_rights(config.socket_mode, config.socket_group);
  if (!rights.ok()) return rights.status();
  return UnixListener::bind(config.socket, *rights);
}

}  // namespace ingot::services_sockets
