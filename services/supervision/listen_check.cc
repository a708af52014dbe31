#include "services/supervision/listen_check.h"

#include "absl/strings/str_cat.h"
#include "services/cli/endpoint.h"
#include "services/process/instance_sockets.h"
#include "services/sockets/socket_path.h"
#include "services/supervision/supervision_limits.h"

namespace ingot {

std::string instance_name(const DaemonConfig& config) {
  if (!config.name.empty()) return config.name;
  const auto address = parse_host_port(config.listen);
  return address.ok() && address->port != 0 ? default_instance_name(address->port) : "";
}

// Of two processes that claim a name, the later one to listen finds the other; if both listen before either looks, both
// give up. Should the kernel's list lack a supervisor, its processes say that they have one.
absl::Status claim_instance_name(const std::string& name, Descriptor& claim) {
  auto own = listen_as(name, kSupervisorProcess, kClaimsWaitingMax);
  if (!own.ok()) return own.status();
  const auto sockets = find_sockets(name);
  if (!sockets.ok()) return sockets.status();
  for (const InstanceSocket& socket : *sockets) {
    if (socket.process != kSupervisorProcess || socket.name == own->name) continue;
    const auto other = connect_to(socket);
    if (absl::IsNotFound(other.status()) || absl::IsPermissionDenied(other.status())) continue;
    if (absl::IsResourceExhausted(other.status())) return other.status();
    const std::string pid = other.ok() ? absl::StrCat(" (pid ", other->pid, ")") : "";  // else claims have piled up
    return absl::AlreadyExistsError(
        absl::StrCat("an instance named \"", name, "\" is running", pid, "; choose another name with --name=NAME"));
  }
  claim = std::move(own->fd);
  return absl::OkStatus();
}

}  // namespace ingot
