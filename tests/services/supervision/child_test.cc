// A process that the supervisor cannot tell of a new incarnation, since the kernel refuses the message.
#include "services/supervision/child.h"

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "absl/strings/str_cat.h"
#include "services/instance/instance.h"
#include "services/launch/pidfd.h"
#include "services/supervision/limits.h"

namespace ingot {
namespace {

constexpr int kDescriptorsMax = 1000;  // that the user may have in flight; other processes of the user may have some
constexpr int kHandlersMax = 100;      // of the loop in half a second: a spin runs thousands

// Gives up the capabilities with which the kernel does not limit descriptors in flight.
bool become_ordinary() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  return ::syscall(SYS_capset, &header, none) == 0;
}

// Fills the user's allowance of descriptors in flight, tells a process of a new incarnation, and counts what the loop
// runs while the kernel refuses the message. Returns 0 if the loop is quiet, and the process learns of it later.
int tell_beyond_the_allowance() {
  DaemonConfig config;
  config.replicas = 2;
  config.listen = "127.0.0.1:0";
  config.metrics_listen = "";
  config.socket = "";
  config.name = absl::StrCat("child-test-", ::getpid());
  auto created = Instance::create(config);
  if (!created.ok()) return 9;
  Instance& instance = **created;
  const rlimit limit{kDescriptorsMax, kDescriptorsMax};
  int pair[2], full[2];
  if (!become_ordinary() || ::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 10;
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return 11;
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, full) != 0) return 12;
  SupervisionChannel other{Descriptor(full[0])};
  SupervisionMessage many;
  many.mutable_handover_descriptors();
  const std::vector<int> fds(kSupervisionDescriptorsMax, full[0]);
  while (other.send(many, fds).ok()) continue;

  boost::asio::io_context io;
  auto child = std::make_shared<Child>(io, ChildRole::replica(0), ::getpid(), Descriptor(::pidfd_open(::getpid(), 0)),
                                       SupervisionChannel(Descriptor(pair[0])), 1, instance.all_told());
  if (!instance.begin_incarnation(1).ok()) return 16;
  child->tell(instance);
  if (child->channel.sent() > 0) return 13;  // the kernel took it: nothing is tested
  if (io.run_for(std::chrono::milliseconds(500)) > kHandlersMax) return 14;

  Descriptor(full[1]).reset();  // the descriptors in flight are closed with their receiver
  other.close();
  SupervisionChannel process{Descriptor(pair[1])};
  while (child->channel.sent() == 0) io.run_one();
  return process.receive().message.has_incarnation() ? 0 : 15;
}

}  // namespace

TEST_CASE("a message that the kernel refuses though the socket is writable is sent later, without a spin") {
  REQUIRE(500 / kSendRetryMs * 2 < kHandlersMax);
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(tell_beyond_the_allowance());
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace ingot
