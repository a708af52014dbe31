#include "services/handover/process_sockets.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <map>
#include <span>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/check.h"
#include "core/limits.h"
#include "services/launch/process_signal.h"
#include "services/sockets/listening_sockets.h"
#include "services/sockets/passed_descriptors.h"
#include "transport/host/kernel_random.h"

namespace ingot::inline services_handover {

namespace {

constexpr const char* kReplicaPrefix = "replica/";
constexpr std::size_t kProcessWordBytesMax = 2;  // a replica's id
static_assert(kReplicasMax <= 100);
constexpr std::size_t kTagBytes = 7;             // 42 random bits

static_assert(1 + sizeof "ingot/" - 1 + kInstanceNameBytesMax + 1 + kProcessWordBytesMax + 1 + kTagBytes <=
                  sizeof sockaddr_un::sun_path,
              "every name fits");

struct Word {
  const char* process;
  const char* word;
};
constexpr std::array<Word, 4> kWords{{{"replicas", "r"}, {"front-end", "f"}, {"view", "v"}, {kSupervisorProcess, "s"}}};

std::string word_of(const std::string& process) {
  for (const Word& each : kWords) {
    if (process == each.process) return each.word;
  }
  return std::string(absl::StripPrefix(process, kReplicaPrefix));
}

// Empty: not a word of a process.
std::string process_of(const std::string& word) {
  for (const Word& each : kWords) {
    if (word == each.word) return each.process;
  }
  int id = 0;
  const bool replica = absl::SimpleAtoi(word, &id) && id >= 0 && id < kReplicasMax && word == std::to_string(id);
  return replica ? kReplicaPrefix + word : "";
}

std::string random_tag() {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  static_assert(kLetters.size() == 64);
  unsigned char random[kTagBytes];
  draw_random(std::as_writable_bytes(std::span(random)));
  std::string tag;
  for (const unsigned char each : random) tag += kLetters[each % kLetters.size()];
  return tag;
}

struct SocketAddress {
  explicit SocketAddress(const std::string& name) {
    INGOT_CHECK(name.size() + 1 <= sizeof address.sun_path, "the instance's name was checked at its start");
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }

  sockaddr_un address{};
  socklen_t length;
};

// Any user may connect to it, or may have bound the name to which it connects.
Descriptor make_socket() {
  Descriptor fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  refuse_passed_descriptors(fd.get());
  return fd;
}

absl::Status failure(const char* what) {
  return absl::ResourceExhaustedError(absl::StrCat("cannot ", what, ": ", std::strerror(errno)));
}

std::string prefix_of(const std::string& instance) { return absl::StrCat("ingot/", instance, "/"); }

// The kernel lists its sockets by a hash of their names, a few at a time, and goes on by their place: while others
// before it end, a socket may be left out of a reading.
constexpr int kReadings = 2;

absl::Status read_sockets(const std::string& instance, std::map<std::string, InstanceSocket>& found) {
  const std::string prefix = prefix_of(instance);
  return visit_listening_sockets([&](const ListeningSocket& socket) {
    if (socket.user != ::geteuid() || !absl::StartsWith(socket.name, prefix)) return;
    const std::vector<std::string> parts = absl::StrSplit(socket.name.substr(prefix.size()), '/');
    const std::string process = parts.size() == 2 ? process_of(parts[0]) : "";
    if (!process.empty()) found[socket.name] = {process, socket.name, socket.inode};
  });
}

bool is_stopped(pid_t pid) { return condition_of(pid) == ProcessCondition::kStopped; }

absl::Status not_connected(int error, const std::vector<pid_t>& holders) {
  if (error == ECONNREFUSED) return absl::NotFoundError("no process listens there");
  if (error != EAGAIN) return absl::UnavailableError(absl::StrCat("cannot connect: ", std::strerror(error)));
  const std::string pids = absl::StrJoin(holders, " ");
  return absl::UnavailableError(absl::StrCat("too many connections wait at it; continue it with kill -CONT ", pids,
                                             ", or end it with kill -KILL ", pids));
}

}  // namespace

absl::StatusOr<Listener> listen_as(const std::string& instance, const std::string& process, int waiting_max) {
  Listener listener{make_socket(), absl::StrCat(prefix_of(instance), word_of(process), "/", random_tag())};
  if (!listener.fd.valid()) return failure("make a socket for the next supervisor");
  const SocketAddress address(listener.name);
  if (::bind(listener.fd.get(), address.get(), address.length) != 0) {
    return failure("bind the socket for the next supervisor");
  }
  if (::listen(listener.fd.get(), waiting_max) != 0) return failure("listen for the next supervisor");
  return listener;
}

absl::StatusOr<std::vector<InstanceSocket>> find_sockets(const std::string& instance) {
  std::map<std::string, InstanceSocket> by_name;
  for (int i = 0; i < kReadings; ++i) {
    if (auto status = read_sockets(instance, by_name); !status.ok()) return status;
  }
  std::vector<InstanceSocket> found;
  for (auto& [name, socket] : by_name) found.push_back(std::move(socket));
  return found;
}

// Room in a queue may last for microseconds only, so it is not slept between two tries.
absl::StatusOr<InstanceConnection> connect_to(const InstanceSocket& socket,
                                              std::chrono::steady_clock::time_point until) {
  InstanceConnection connection{make_socket()};
  if (!connection.fd.valid()) return failure("make a socket");
  const SocketAddress address(socket.name);
  std::vector<pid_t> holders;
  while (::connect(connection.fd.get(), address.get(), address.length) != 0) {
    const int error = errno;
    if (error == EAGAIN && holders.empty()) {
      holders = holders_of_socket(socket.inode);
      if (absl::c_any_of(holders, is_stopped)) until = {};
    }
    if (error != EAGAIN || std::chrono::steady_clock::now() >= until) return not_connected(error, holders);
    std::this_thread::yield();
  }
  if (!same_user(connection.fd.get(), connection.pid)) {
    close_unread(std::move(connection.fd));
    return absl::PermissionDeniedError("it runs as another user");
  }
  allow_passed_descriptors(connection.fd.get());
  return connection;
}

bool same_user(int connection, pid_t& pid) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return false;
  pid = peer.pid;
  return peer.uid == ::geteuid();
}

}  // namespace ingot::services_handover
