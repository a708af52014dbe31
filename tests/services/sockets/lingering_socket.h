// An attacker's descriptor: a TCP socket that lingers when it is closed, since its peer reads nothing.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "transport/host/descriptor.h"

namespace ingot::testing {

class LingeringSocket {
 public:
  // The process that closes the last descriptor of it waits for so long, if the kernel makes it wait.
  static constexpr std::chrono::seconds kLinger{60};

  LingeringSocket() {
    const Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name;
    REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&name), size) == 0);
    REQUIRE(::listen(listener.get(), 1) == 0);
    REQUIRE(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&name), &size) == 0);
    REQUIRE(::connect(own_.get(), reinterpret_cast<sockaddr*>(&name), size) == 0);
    peer_ = Descriptor(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const linger option{1, static_cast<int>(kLinger.count())};
    REQUIRE(::setsockopt(own_.get(), SOL_SOCKET, SO_LINGER, &option, sizeof option) == 0);
    const char bytes[65536] = {};
    while (::send(own_.get(), bytes, sizeof bytes, MSG_DONTWAIT) > 0) continue;
  }
  // A test that fails need not linger.
  ~LingeringSocket() {
    const linger none{};
    if (own_.valid()) ::setsockopt(own_.get(), SOL_SOCKET, SO_LINGER, &none, sizeof none);
  }

  // Sends the text with the descriptor, which it closes then: the receiver has the last one. Returns errno, or 0.
  int pass(int unix_socket, const char* text) { return pass(unix_socket, text, own_); }

  static int pass(int unix_socket, const char* text, Descriptor& passed) {
    char data[1024];
    std::strncpy(data, text, sizeof data);
    iovec part{data, std::strlen(text)};
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = room;
    header.msg_controllen = sizeof room;
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    const int fd = passed.get();
    std::memcpy(CMSG_DATA(rights), &fd, sizeof fd);
    if (::sendmsg(unix_socket, &header, MSG_NOSIGNAL) < 0) return errno;
    passed.reset();
    return 0;
  }

 private:
  Descriptor own_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  Descriptor peer_;  // reads nothing
};

// Runs it, and says whether it took less time than it would with a socket that lingers.
template <typename Action>
bool does_not_linger(Action&& action) {
  const auto begin = std::chrono::steady_clock::now();
  std::forward<Action>(action)();
  return std::chrono::steady_clock::now() - begin < LingeringSocket::kLinger;
}

}  // namespace ingot::testing
