#include "services/rpc/server/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ingot::rpc::inline server {

namespace asio = boost::asio;

namespace {

std::string address_of(const sockaddr_storage& peer) {
  char text[INET6_ADDRSTRLEN] = "";
  if (peer.ss_family == AF_INET) {
    const auto& ipv4 = reinterpret_cast<const sockaddr_in&>(peer);
    ::inet_ntop(AF_INET, &ipv4.sin_addr, text, sizeof text);
    return absl::StrCat(text, ":", ntohs(ipv4.sin_port));
  }
  if (peer.ss_family == AF_INET6) {
    const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(peer);
    ::inet_ntop(AF_INET6, &ipv6.sin6_addr, text, sizeof text);
    return absl::StrCat("[", text, "]:", ntohs(ipv6.sin6_port));
  }
  return "unknown";
}

void set_option(int fd, int level, int option, int value) {
  ::setsockopt(fd, level, option, &value, sizeof value);  // best effort
}

Caller caller_by_unix(int fd) {
  Caller caller{Caller::Door::kUnix, "unix:", std::nullopt};
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) {
    caller.credentials = {peer.uid, peer.gid, peer.pid};
    caller.address = absl::StrCat("unix:pid=", peer.pid, ",uid=", peer.uid);
  }
  return caller;
}

Caller caller_by_tcp(int fd, const sockaddr_storage& peer) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, kTcpKeepAliveS);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, kTcpKeepAliveS / 6);
  return {Caller::Door::kTcp, address_of(peer), std::nullopt};
}

// The peer may have gone already; the next one may be well.
bool of_one_connection(int error) {
  return error == ECONNABORTED || error == EINTR || error == EPROTO || error == EPERM || error == ENETDOWN ||
         error == ENOPROTOOPT || error == EHOSTDOWN || error == ENONET || error == EHOSTUNREACH || error == ENETUNREACH;
}

}  // namespace

Listener::Listener(asio::io_context& io, Descriptor socket, Caller::Door door, Shared& shared, Host host)
    : socket_(io, socket.release()), door_(door), shared_(shared), host_(std::move(host)), retry_(this, [](void* self) {
        static_cast<Listener*>(self)->ready_ = true;
      }) {}

void Listener::start() { wait(); }

void Listener::wait() {
  if (closed_ || std::exchange(waiting_, true)) return;
  socket_.async_wait(asio::posix::stream_descriptor::wait_read,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       self->waiting_ = false;
                       if (!error) self->ready_ = !self->closed_;
                     });
}

void Listener::resume() {
  if (!retry_.set()) return;
  retry_.cancel();
  ready_ = true;
}

// Not within the handler of the wait: a socket where more connections wait would be found ready again at once, and the
// round would last until all are here.
int Listener::accept() {
  int taken = 0;
  for (int i = 0; i < kAcceptsPerRound && ready_; ++i) {
    const Step step = accept_one();
    if (step == Step::kTaken) ++taken;
    if (step == Step::kAllHere) {
      ready_ = false;
      wait();
    } else if (step == Step::kNoRoom) {
      ready_ = false;
      shared_.count(&ServerCounters::accepts_delayed);
      shared_.timers.set(retry_, shared_.now_ns + kServerAcceptRetryMs * 1'000'000);
    }
  }
  return taken;
}

Listener::Step Listener::accept_one() {
  pollfd listening{socket_.native_handle(), POLLIN, 0};
  if (::poll(&listening, 1, 0) == 0) return Step::kAllHere;  // no connection waits for room
  if (!host_.room()) return Step::kNoRoom;
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  Descriptor fd(
      ::accept4(socket_.native_handle(), reinterpret_cast<sockaddr*>(&peer), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!fd.valid()) {
    if (of_one_connection(errno)) return Step::kLost;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return Step::kAllHere;  // another loop has taken it
    return Step::kNoRoom;  // no descriptor, or no memory: it waits in the kernel
  }
  Caller caller = door_ == Caller::Door::kUnix ? caller_by_unix(fd.get()) : caller_by_tcp(fd.get(), peer);
  host_.accepted(std::move(fd), std::move(caller));
  return Step::kTaken;
}

void Listener::close() {
  closed_ = true;
  ready_ = false;
  retry_.cancel();
  boost::system::error_code ignored;
  socket_.close(ignored);
}

}  // namespace ingot::rpc::server
