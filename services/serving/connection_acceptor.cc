#include "services/serving/connection_acceptor.h"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/serving/limits.h"

namespace ingot {

namespace {

std::string text_of(const sockaddr_storage& address, socklen_t length) {
  char host[NI_MAXHOST], port[NI_MAXSERV];
  const int failed = ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), length, host, sizeof host, port,
                                   sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
  if (failed != 0) return "unknown";
  const bool ipv6 = address.ss_family == AF_INET6;
  return absl::StrCat(ipv6 ? "[" : "", host, ipv6 ? "]:" : ":", port);
}

Caller local_caller(int connection) {
  Caller caller{Caller::Door::kUnix, "unix:", {}};
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return caller;
  caller.address = absl::StrCat("unix:pid=", peer.pid, ",uid=", peer.uid);
  caller.credentials = Caller::Credentials{peer.uid, peer.gid, peer.pid};
  return caller;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ConnectionAcceptor>> ConnectionAcceptor::start(ListeningSockets sockets, Take take) {
  auto bell = Doorbell::create();
  if (!bell.ok()) return bell.status();
  std::unique_ptr<ConnectionAcceptor> acceptor(
      new ConnectionAcceptor(std::move(sockets), std::move(take), *std::move(bell)));
  acceptor->thread_ = std::thread([raw = acceptor.get()] { raw->run(); });
  return acceptor;
}

ConnectionAcceptor::ConnectionAcceptor(ListeningSockets sockets, Take take, Doorbell bell)
    : take_(std::move(take)), bell_(std::move(bell)), sockets_(std::move(sockets)) {}

ConnectionAcceptor::~ConnectionAcceptor() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  bell_.ring();
  thread_.join();
}

void ConnectionAcceptor::replace_local(Descriptor local) {
  {
    const std::lock_guard lock(mutex_);
    new_local_ = std::move(local);
  }
  bell_.ring();
}

void ConnectionAcceptor::run() {
  bool paused = false;
  while (wait(paused)) {
    const bool tcp = accept_all(sockets_.tcp, Caller::Door::kTcp);
    const bool local = accept_all(sockets_.local, Caller::Door::kUnix);
    paused = !tcp || !local;
  }
}

// False: the acceptor stops.
bool ConnectionAcceptor::wait(bool paused) {
  pollfd all[] = {{bell_.fd(), POLLIN, 0}, {sockets_.tcp.get(), POLLIN, 0}, {sockets_.local.get(), POLLIN, 0}};
  ::poll(all, paused ? 1 : 3, paused ? kAcceptPauseMs : -1);  // poll passes over descriptors that are -1
  bell_.drain();
  const std::lock_guard lock(mutex_);
  if (new_local_.valid()) sockets_.local = std::move(new_local_);
  return !stopping_;
}

// False: a connection waits for which there is no descriptor or memory.
bool ConnectionAcceptor::accept_all(Descriptor& listener, Caller::Door door) {
  while (listener.valid()) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    Descriptor connection(
        ::accept4(listener.get(), reinterpret_cast<sockaddr*>(&address), &length, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (connection.valid()) {
      const Caller caller =
          door == Caller::Door::kUnix ? local_caller(connection.get()) : Caller{door, text_of(address, length), {}};
      take_(std::move(connection), caller);
      continue;
    }
    if (errno == EINVAL) listener.reset();  // it was shut down: nothing will come
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) return false;
    if (errno != ECONNABORTED && errno != EINTR) return true;
  }
  return true;
}

}  // namespace ingot
