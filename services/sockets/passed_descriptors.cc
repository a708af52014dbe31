#include "services/sockets/passed_descriptors.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <latch>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace ingot::inline services_sockets {

namespace {

#ifdef SO_PASSRIGHTS
constexpr int kPassRights = SO_PASSRIGHTS;
#else
constexpr int kPassRights = 83;  // but for PA-RISC and SPARC
#endif

bool set_option(int socket, int option, int value) {
  return ::setsockopt(socket, SOL_SOCKET, option, &value, sizeof value) == 0;
}

// -1: the kernel does not know the option.
int option_of(int socket, int option) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(socket, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

bool refuses(int socket) { return option_of(socket, kPassRights) == 0; }

// Whether the kernel counts no descriptors among what was sent to the connection. After shutdown() none can come.
bool brings_none(int connection) {
  if (option_of(connection, SO_ACCEPTCONN) != 0 || ::shutdown(connection, SHUT_RD) != 0) return false;
  const Descriptor file(::open(absl::StrCat("/proc/self/fdinfo/", connection).c_str(), O_RDONLY | O_CLOEXEC));
  char text[512];  // five short lines
  const ssize_t size = file.valid() ? ::read(file.get(), text, sizeof text) : 0;
  const std::string_view lines(text, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return lines.find("\nscm_fds: 0\n") != lines.npos;
}

using Sockets = std::vector<Descriptor>;

bool start_thread(pthread_t& thread, void* (*run)(void*), void* argument) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the process's own threads
  const bool started = ::pthread_create(&thread, nullptr, run, argument) == 0;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

struct Handover {
  std::latch copied{1};
  std::latch closed{1};
  bool has_copy = false;
};

void* end_with_copy(void* argument) {
  auto& handover = *static_cast<Handover*>(argument);
  handover.has_copy = ::unshare(CLONE_FILES) == 0;
  handover.copied.count_down();
  handover.closed.wait();
  return nullptr;
}

// The kernel does not let a thread linger that ends. A thread with a copy of the table of descriptors has the sockets'
// last references once the process has closed its own, and drops them with the copy, when it ends. A join is over
// before the kernel closes the copy. False: there can be no such thread, and nothing is closed.
bool close_by_ending_thread(Sockets& sockets) {
  Handover handover;
  pthread_t thread{};
  if (!start_thread(thread, end_with_copy, &handover)) return false;
  handover.copied.wait();
  if (handover.has_copy) sockets.clear();
  handover.closed.count_down();
  ::pthread_join(thread, nullptr);
  return handover.has_copy;
}

// Sockets that wait to be closed, each with its descriptor: so there are no more than the process may have. A loop does
// not wait until another thread has had the processor. So it only leaves them here, for a thread that runs as long as
// there are some.
class Leavings {
 public:
  void add(Descriptor socket) {
    const std::lock_guard lock(mutex_);
    sockets_.push_back(std::move(socket));
    if (running_) return;
    pthread_t thread{};
    running_ = start_thread(thread, run, this);
    if (running_) ::pthread_detach(thread);
  }

 private:
  static void* run(void* self) {
    static_cast<Leavings*>(self)->close_all();
    return nullptr;
  }

  void close_all() {
    for (Sockets taken = take(); !taken.empty(); taken = take()) {
      if (!close_by_ending_thread(taken)) return put_back(std::move(taken));
    }
  }

  // Empty: the thread ends.
  Sockets take() {
    const std::lock_guard lock(mutex_);
    running_ = !sockets_.empty();
    return std::exchange(sockets_, {});
  }

  // Until one more comes.
  void put_back(Sockets taken) {
    const std::lock_guard lock(mutex_);
    for (Descriptor& each : taken) sockets_.push_back(std::move(each));
    running_ = false;
  }

  std::mutex mutex_;
  Sockets sockets_;
  bool running_ = false;
};

}  // namespace

bool refuse_passed_descriptors(int socket) {
  const int reason = errno;
  const bool refused = set_option(socket, kPassRights, 0);
  errno = reason;
  return refused;
}

void allow_passed_descriptors(int socket) { set_option(socket, kPassRights, 1); }

bool watch_for_descriptors(int connection) {
  if (refuses(connection)) return false;
  set_option(connection, SO_OOBINLINE, 1);
  return true;
}

// A look without room for descriptors tells whether there are some, and drops a second reference to them, never the
// last. What was looked at is received only if there were none in it.
ssize_t receive_bytes(int connection, std::span<char> buffer) {
  iovec part{buffer.data(), buffer.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  const ssize_t seen = ::recvmsg(connection, &header, MSG_DONTWAIT | MSG_PEEK);
  if (seen <= 0) return seen;
  if ((header.msg_flags & MSG_CTRUNC) != 0) {
    errno = EPROTO;
    return -1;
  }
  return ::recv(connection, buffer.data(), static_cast<std::size_t>(seen), MSG_DONTWAIT);
}

void close_unread(Descriptor socket) {
  if (!socket.valid() || refuses(socket.get()) || brings_none(socket.get())) return;
  static Leavings& leavings = *new Leavings;  // never destroyed: its thread may outlast the process's main()
  leavings.add(std::move(socket));
}

}  // namespace ingot::services_sockets
