#include "services/sockets/tcp_listener.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "services/cli/endpoint.h"

namespace ingot::inline services_sockets {

namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

absl::StatusOr<Addresses> resolve(const HostPort& parsed, const std::string& flag) {
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(parsed.host.c_str(), std::to_string(parsed.port).c_str(), &hints, &found);
  if (failed == 0) return Addresses(found, &::freeaddrinfo);
  return absl::InvalidArgumentError(absl::StrCat(flag, ": cannot resolve \"", parsed.host, "\" (",
                                                 ::gai_strerror(failed), "); give an address of this machine"));
}

const addrinfo& preferred(const addrinfo& first) {
  for (const addrinfo* each = &first; each != nullptr; each = each->ai_next) {
    if (each->ai_family == AF_INET) return *each;
  }
  return first;
}

void set(int fd, int level, int option, int value) { ::setsockopt(fd, level, option, &value, sizeof value); }

sockaddr_storage bound_address(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) address.ss_family = AF_UNSPEC;
  return address;
}

int bound_port(int fd) {
  const sockaddr_storage address = bound_address(fd);
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

// Invalid, with errno, if that cannot be.
Descriptor bind_to(const sockaddr* address, socklen_t length) {
  Descriptor fd(::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return fd;
  set(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);  // connections of an earlier run in TIME_WAIT do not block the address
  set(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);  // its connections inherit that
  if (address->sa_family == AF_INET6) set(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (::bind(fd.get(), address, length) == 0) return fd;
  return Descriptor();
}

// A socket keeps only a port that it asked for by number while it does not listen (refuse_connections). Both may have
// the port, since neither listens.
Descriptor bind_to_port_of(Descriptor any) {
  const sockaddr_storage address = bound_address(any.get());
  const socklen_t length = address.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  return bind_to(reinterpret_cast<const sockaddr*>(&address), length);
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

absl::StatusOr<Descriptor> claim_listen_address(std::string& address, const std::string& flag, int backlog) {
  const auto parsed = parse_host_port(address);
  if (!parsed.ok()) return absl::InvalidArgumentError(absl::StrCat(flag, ": ", parsed.status().message()));
  const auto found = resolve(*parsed, flag);
  if (!found.ok()) return found.status();
  const addrinfo& chosen = preferred(**found);
  Descriptor fd = bind_to(chosen.ai_addr, chosen.ai_addrlen);
  if (fd.valid() && parsed->port == 0) fd = bind_to_port_of(std::move(fd));
  const bool listens = fd.valid() && ::listen(fd.get(), backlog) == 0;
  if (!listens) return bind_error(address, flag, errno);
  if (parsed->port == 0) {
    const bool ipv6 = parsed->host.find(':') != std::string::npos;
    address = absl::StrCat(ipv6 ? "[" : "", parsed->host, ipv6 ? "]:" : ":", bound_port(fd.get()));
  }
  return fd;
}

bool is_loopback(int listener) {
  const sockaddr_storage address = bound_address(listener);
  if (address.ss_family == AF_INET) {
    return (ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24) == IN_LOOPBACKNET;
  }
  const in6_addr& ip = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  const bool mapped_loopback = IN6_IS_ADDR_V4MAPPED(&ip) && ip.s6_addr[12] == IN_LOOPBACKNET;
  return address.ss_family == AF_INET6 && (IN6_IS_ADDR_LOOPBACK(&ip) || mapped_loopback);
}

void refuse_connections(int listener) { ::shutdown(listener, SHUT_RDWR); }

absl::Status listen_again(int listener) {
  if (::listen(listener, kListenBacklog) == 0) return absl::OkStatus();
  if (errno == EADDRINUSE) {
    return absl::AlreadyExistsError(
        "the instance's address is in use: another program took it while the instance "
        "ended; stop that one");
  }
  return absl::InvalidArgumentError(absl::StrCat("the instance's socket does not listen: ", std::strerror(errno)));
}

}  // namespace ingot::services_sockets
