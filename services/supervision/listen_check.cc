#include "services/supervision/listen_check.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "services/cli/endpoint.h"
#include "services/process/instance_sockets.h"
#include "services/supervision/supervision_limits.h"
#include "transport/host/descriptor.h"

namespace ingot {

namespace {

int bound_port(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<sockaddr_in6*>(&address)->sin6_port);
  return ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

absl::Status bind_error(const std::string& address, const std::string& flag, int error) {
  if (error == EADDRINUSE) {
    return absl::AlreadyExistsError(
        absl::StrCat(address, " is in use; choose another port with ", flag, "=HOST:PORT, or stop who listens there"));
  }
  return absl::InvalidArgumentError(absl::StrCat("cannot listen on ", address, ": ", std::strerror(error),
                                                 "; give an address of this machine with ", flag, "=HOST:PORT"));
}

}  // namespace

absl::StatusOr<Descriptor> claim_listen_address(std::string& address, const std::string& flag) {
  const auto parsed = parse_host_port(address);
  if (!parsed.ok()) return absl::InvalidArgumentError(absl::StrCat(flag, ": ", parsed.status().message()));
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(parsed->host.c_str(), std::to_string(parsed->port).c_str(), &hints, &found);
  if (failed != 0) {
    return absl::InvalidArgumentError(absl::StrCat(flag, ": cannot resolve \"", parsed->host, "\" (",
                                                   ::gai_strerror(failed), "); give an address of this machine"));
  }
  Descriptor fd(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;  // connections of an earlier run in TIME_WAIT do not block the address
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const bool bound =
      fd.valid() && ::bind(fd.get(), found->ai_addr, found->ai_addrlen) == 0 && ::listen(fd.get(), 1) == 0;
  const int error = errno;
  ::freeaddrinfo(found);
  if (!bound) return bind_error(address, flag, error);
  if (parsed->port == 0) {
    const bool ipv6 = parsed->host.find(':') != std::string::npos;
    address = absl::StrCat(ipv6 ? "[" : "", parsed->host, ipv6 ? "]:" : ":", bound_port(fd.get()));
  }
  return fd;
}

std::string instance_name(const DaemonConfig& config) {
  if (!config.name.empty()) return config.name;
  const auto address = parse_host_port(config.listen);
  return address.ok() && address->port != 0 ? absl::StrCat("ingot-", address->port) : "";
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
