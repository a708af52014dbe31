// The sockets on which an instance listens: made at its start, taken over by the next supervisor, given up at its end.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/handover/handover_state.h"
#include "services/instance/instance.h"
#include "services/launch/supervision_channel.h"
#include "services/sockets/tcp_listener.h"
#include "tests/services/sockets/short_folder.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;

DaemonConfig config_with(const std::string& socket, const std::string& suffix = "") {
  DaemonConfig config;
  config.replicas = 1;
  config.listen = "127.0.0.1:0";
  config.metrics_listen = "";
  config.name = absl::StrCat("sockets-test-", ::getpid(), suffix);
  config.socket = socket;
  return config;
}

std::unique_ptr<Instance> create(const DaemonConfig& config) {
  auto instance = Instance::create(config);
  INFO(instance.status());
  REQUIRE(instance.ok());
  return *std::move(instance);
}

// A new supervisor, which gets what a process of the instance knows.
std::unique_ptr<Instance> take_over(const Instance& instance) {
  auto known = HandoverState::copy(instance.launch_spec());
  REQUIRE(known.ok());
  auto adopted = Instance::adopt(Descriptor(), *std::move(known));
  INFO(adopted.status());
  REQUIRE(adopted.ok());
  return *std::move(adopted);
}

bool connects(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const Descriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

bool listens(int fd) {
  int value = 0;
  socklen_t length = sizeof value;
  return ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &value, &length) == 0 && value == 1;
}

// What an instance would tell a process that knows nothing newer than `told`.
SupervisionChannel::Received tell(const Instance& instance, Told told) {
  int fds[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
  SupervisionChannel here{Descriptor(fds[0])}, there{Descriptor(fds[1])};
  REQUIRE(instance.tell(here, told).ok());
  return there.receive();
}

}  // namespace

TEST_CASE("an instance listens by TCP and on its Unix socket, whose file ends with it") {
  const ShortFolder folder;
  {
    const auto instance = create(config_with(folder / "a.sock"));
    const LaunchSpec spec = instance->launch_spec();
    CHECK(listens(spec.listen_fd));
    CHECK(listens(spec.socket.fd));
    CHECK(spec.socket.binding == 1);
    CHECK(connects(folder / "a.sock"));
    CHECK(instance->warnings().empty());
  }
  CHECK_FALSE(fs::exists(folder / "a.sock"));
}

TEST_CASE("without a Unix socket an instance is made, and taken over, all the same") {
  const auto instance = create(config_with(""));
  CHECK(instance->launch_spec().socket.fd == -1);
  CHECK(instance->launch_spec().config.socket.empty());
  const auto next = take_over(*instance);
  CHECK(next->launch_spec().socket.fd == -1);
  CHECK(next->warnings().empty());
}

TEST_CASE("an instance that cannot have its Unix socket is not made, and gives its port up") {
  const ShortFolder folder;
  const auto first = create(config_with(folder / "a.sock"));
  DaemonConfig config = config_with(folder / "a.sock", "-b");
  const auto refused = Instance::create(config);
  CHECK(absl::IsAlreadyExists(refused.status()));
  CHECK_THAT(std::string(refused.status().message()), Contains(folder / "a.sock" + " is in use by process"));
  CHECK(connects(folder / "a.sock"));
  config.socket = "";
  CHECK(Instance::create(config).ok());
}

TEST_CASE("the next supervisor takes both sockets over, and its processes need not be told") {
  const ShortFolder folder;
  const auto first = create(config_with(folder / "a.sock"));
  const auto next = take_over(*first);
  const LaunchSpec spec = next->launch_spec();
  CHECK(listens(spec.listen_fd));
  CHECK(listens(spec.socket.fd));
  CHECK(spec.socket.binding == 1);
  CHECK(spec.socket.file == first->launch_spec().socket.file);
  CHECK(tell(*next, first->all_told()).outcome == SupervisionChannel::Received::Outcome::kNothing);
  Told stopped = first->all_told();  // of a process that has not said what it knows
  stopped.binding = 0;
  CHECK(tell(*next, stopped).outcome == SupervisionChannel::Received::Outcome::kNothing);
}

TEST_CASE("a Unix socket whose file is gone is bound anew by the next supervisor, which tells the processes") {
  const ShortFolder folder;
  const auto first = create(config_with(folder / "a.sock"));
  fs::remove(folder / "a.sock");
  const auto next = take_over(*first);
  const LaunchSpec spec = next->launch_spec();
  CHECK(spec.socket.binding == 2);
  CHECK(connects(folder / "a.sock"));
  const auto told = tell(*next, first->all_told());
  REQUIRE(told.outcome == SupervisionChannel::Received::Outcome::kMessage);
  REQUIRE(told.message.has_socket());
  REQUIRE(told.fds.size() == 1);
  CHECK(listens(told.fds[0].get()));
  HandoverState process = *HandoverState::copy(first->launch_spec());
  REQUIRE(process.keep_socket(told.message.socket(), told.fds[0]).ok());
  CHECK(process.spec().socket.file == spec.socket.file);
}

// The third supervisor knows the new socket by a process that the second one has started, and the old one by the rest.
TEST_CASE("a view socket that was bound anew is still there after the next take-over") {
  const ShortFolder folder;
  const std::string path = folder / "a.view.sock";
  const auto first = create(config_with(folder / "a.sock"));
  REQUIRE(connects(path));
  fs::remove(path);
  const auto second = take_over(*first);
  CHECK(second->new_view_socket());
  CHECK(connects(path));
  auto known = *HandoverState::copy(first->launch_spec());
  known.merge(*HandoverState::copy(second->launch_spec()));
  const auto third = *Instance::adopt(Descriptor(), std::move(known));
  CHECK(third->warnings().empty());
  CHECK_FALSE(third->new_view_socket());
  CHECK(third->launch_spec().view_socket.file == second->launch_spec().view_socket.file);
  CHECK(listens(third->launch_spec().view_socket.fd));
  CHECK(connects(path));
}

// The supervisor was killed after it had refused connections, while its front end answered the last requests.
TEST_CASE("an instance that was about to end and is taken over listens again on both sockets") {
  const ShortFolder folder;
  const auto first = create(config_with(folder / "a.sock"));
  first->refuse_connections();
  CHECK_FALSE(listens(first->launch_spec().listen_fd));
  CHECK_FALSE(fs::exists(folder / "a.sock"));
  const auto next = take_over(*first);
  CHECK(listens(first->launch_spec().listen_fd));
  CHECK(listens(next->launch_spec().listen_fd));
  CHECK(next->launch_spec().socket.binding == 2);
  CHECK(connects(folder / "a.sock"));
}

TEST_CASE("an instance whose Unix socket's path was taken meanwhile goes on without it, and says so") {
  const ShortFolder folder;
  const auto first = create(config_with(folder / "a.sock"));
  fs::remove(folder / "a.sock");
  const auto other = create(config_with(folder / "a.sock", "-b"));
  {
    const auto next = take_over(*first);
    REQUIRE(next->warnings().size() == 1);
    CHECK_THAT(next->warnings()[0], Contains("is in use by process"));
    CHECK(next->launch_spec().socket.binding == 1);
  }
  CHECK(connects(folder / "a.sock"));  // the other one's
}

TEST_CASE("a socket that is open to other machines is said loudly") {
  DaemonConfig config = config_with("");
  config.listen = "0.0.0.0:0";
  const auto instance = create(config);
  REQUIRE(instance->warnings().size() == 1);
  CHECK_THAT(instance->warnings()[0], Contains("ANYBODY who reaches 0.0.0.0:"));
  const auto next = take_over(*instance);
  CHECK(next->warnings() == instance->warnings());
}

}  // namespace ingot
