#include "services/process/adoption.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace ingot {

namespace {

struct SocketAddress {
  SocketAddress(const std::string& instance, const std::string& child) {
    const std::string path = absl::StrCat("ingot/", instance, "/", child);
    INGOT_CHECK(path.size() + 1 <= sizeof address.sun_path, "the instance's name was checked at its start");
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, path.data(), path.size());
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + path.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }

  sockaddr_un address{};
  socklen_t length;
};

Descriptor make_socket() { return Descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

absl::Status failure(const char* what) {
  return absl::ResourceExhaustedError(absl::StrCat("cannot ", what, ": ", std::strerror(errno)));
}

bool peer_of(int fd, ucred& peer) {
  socklen_t length = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == ::geteuid();
}

}  // namespace

absl::StatusOr<Descriptor> listen_for_supervisor(const std::string& instance, const std::string& child) {
  Descriptor fd = make_socket();
  if (!fd.valid()) return failure("make a socket for the next supervisor");
  const SocketAddress address(instance, child);
  if (::bind(fd.get(), address.get(), address.length) != 0) {
    if (errno != EADDRINUSE) return failure("bind the socket for the next supervisor");
    return absl::AlreadyExistsError("somebody listens for the next supervisor already");
  }
  if (::listen(fd.get(), kSupervisorsWaitingMax) != 0) return failure("listen for the next supervisor");
  return fd;
}

Descriptor accept_supervisor(int listener) {
  Descriptor fd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  ucred peer{};
  return fd.valid() && peer_of(fd.get(), peer) ? std::move(fd) : Descriptor();
}

absl::StatusOr<ChildConnection> connect_to_child(const std::string& instance, const std::string& child) {
  ChildConnection connection{make_socket()};
  if (!connection.fd.valid()) return failure("make a socket");
  const SocketAddress address(instance, child);
  if (::connect(connection.fd.get(), address.get(), address.length) != 0) {
    if (errno == ECONNREFUSED) return absl::NotFoundError("nobody listens");
    return absl::UnavailableError(absl::StrCat("cannot connect: ", std::strerror(errno)));
  }
  ucred peer{};
  if (!peer_of(connection.fd.get(), peer)) return absl::PermissionDeniedError("it runs as another user");
  connection.pid = peer.pid;
  return connection;
}

}  // namespace ingot
