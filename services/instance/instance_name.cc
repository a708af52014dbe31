#include "services/instance/instance_name.h"

#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/cli/endpoint.h"
#include "services/handover/process_sockets.h"
#include "services/instance/limits.h"
#include "services/launch/process_signal.h"
#include "services/sockets/socket_path.h"

namespace ingot::inline services_instance {

std::string instance_name(const DaemonConfig& config) {
  if (!config.name.empty()) return config.name;
  const auto address = parse_host_port(config.listen);
  return address.ok() && address->port != 0 ? default_instance_name(address->port) : "";
}

namespace {

// Of two processes that claim a name, the later one to listen finds the other; if both listen before either looks, both
// give up. Should the kernel's list lack a supervisor, its processes say that they have one. `ended`: the process
// that claimed the name has ended, and only a child of it holds the socket.
absl::Status try_to_claim(const std::string& name, Descriptor& claim, bool& ended) {
  auto own = listen_as(name, kSupervisorProcess, kClaimsWaitingMax);
  if (!own.ok()) return own.status();
  const auto sockets = find_sockets(name);
  if (!sockets.ok()) return sockets.status();
  for (const InstanceSocket& socket : *sockets) {
    if (socket.process != kSupervisorProcess || socket.name == own->name) continue;
    const auto other = connect_to(socket);
    if (absl::IsNotFound(other.status()) || absl::IsPermissionDenied(other.status())) continue;
    if (absl::IsResourceExhausted(other.status())) return other.status();
    ended = other.ok() && condition_of(other->pid) == ProcessCondition::kGone;
    const std::string pid = other.ok() ? absl::StrCat(" (pid ", other->pid, ")") : "";  // else claims have piled up
    return absl::AlreadyExistsError(
        absl::StrCat("an instance named \"", name, "\" is running", pid, "; choose another name with --name=NAME"));
  }
  claim = std::move(own->fd);
  return absl::OkStatus();
}

}  // namespace

// A supervisor that was killed may just have forked a child, which has the supervisor's claim until it runs its program
// (exec closes it): on a busy machine for longer than the start of another supervisor takes.
absl::Status claim_instance_name(const std::string& name, Descriptor& claim) {
  for (int i = 1;; ++i) {
    bool ended = false;
    absl::Status status = try_to_claim(name, claim, ended);
    if (!ended || i == kClaimTries) return status;
    std::this_thread::sleep_for(std::chrono::milliseconds(kClaimTryMs));
  }
}

}  // namespace ingot::services_instance
