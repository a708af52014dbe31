// Regression: any user could bind an instance's one name, or a child's, and keep the instance from starting or its next
// supervisor from attaching. Names that other users bind are tested by tests/daemon/squatter_test.py.
#include "services/handover/process_sockets.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/handover/adoption.h"
#include "services/sockets/listening_sockets.h"

namespace ingot {
namespace {

std::string unique_name(const char* what) { return absl::StrCat(what, "-", ::getpid()); }

// Binds an abstract name as any program may.
Descriptor bind_name(const std::string& name, int type) {
  Descriptor fd(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  REQUIRE(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
  return fd;
}

std::vector<std::string> processes(const std::string& instance) {
  const auto sockets = find_sockets(instance);
  REQUIRE(sockets.ok());
  std::vector<std::string> found;
  for (const InstanceSocket& socket : *sockets) found.push_back(socket.process);
  std::sort(found.begin(), found.end());
  return found;
}

TEST_CASE("processes of an instance are found by its name, and end with their sockets") {
  const std::string name = unique_name("found");
  CHECK(processes(name).empty());
  std::vector<Listener> listeners;
  for (const char* process : {"replica/0", "replica/47", "replicas", "front-end", "view", "supervisor"}) {
    auto listener = listen_as(name, process, 1);
    REQUIRE(listener.ok());
    listeners.push_back(*std::move(listener));
  }
  CHECK(processes(name) == std::vector<std::string>{"front-end", "replica/0", "replica/47", "replicas", "supervisor",
                                                    "view"});
  CHECK(processes(name + "0").empty());
  listeners.clear();
  CHECK(processes(name).empty());
}

TEST_CASE("the longest name of an instance fits") {
  const std::string name(kInstanceNameBytesMax, 'n');
  const auto listener = listen_as(name, "replica/47", 1);
  REQUIRE(listener.ok());
  CHECK(processes(name) == std::vector<std::string>{"replica/47"});
}

TEST_CASE("names that are bound already keep no process from listening") {
  const std::string name = unique_name("squatted");
  std::vector<Descriptor> bound;
  for (const char* part : {"", "/replica/0", "/0", "/front-end", "/s"}) {
    for (const int type : {SOCK_STREAM, SOCK_SEQPACKET}) bound.push_back(bind_name("ingot/" + name + part, type));
  }
  const auto listener = listen_for_supervisor(name, "replica/0");
  REQUIRE(listener.ok());
  CHECK(processes(name) == std::vector<std::string>{"replica/0"});
}

TEST_CASE("what does not listen, or not as a process of the instance does, is not found") {
  const std::string name = unique_name("others");
  const Descriptor silent = bind_name("ingot/" + name + "/0/AAAAAAA", SOCK_SEQPACKET);
  const Descriptor stream = bind_name("ingot/" + name + "/1/AAAAAAA", SOCK_STREAM);
  REQUIRE(::listen(stream.get(), 1) == 0);
  std::vector<Descriptor> words;
  for (const char* word : {"x", "48", "07", "-1", "1/1", ""}) {
    words.push_back(bind_name(absl::StrCat("ingot/", name, "/", word, "/AAAAAAA"), SOCK_SEQPACKET));
    REQUIRE(::listen(words.back().get(), 1) == 0);
  }
  CHECK(processes(name).empty());
}

TEST_CASE("a connection names the process that listens; one to a socket that has gone is NOT_FOUND") {
  const std::string name = unique_name("gone");
  auto listener = listen_as(name, "front-end", 1);
  REQUIRE(listener.ok());
  const InstanceSocket socket = find_sockets(name)->front();
  const auto connection = connect_to(socket);
  REQUIRE(connection.ok());
  CHECK(connection->pid == ::getpid());
  CHECK(connect_to(socket).ok());
  const absl::Status full = connect_to(socket).status();  // two wait, and more than one must not
  CHECK(absl::IsUnavailable(full));
  const std::string pid = std::to_string(::getpid());
  CHECK(std::string(full.message()) == "too many connections wait at it; continue it with kill -CONT " + pid +
                                           ", or end it with kill -KILL " + pid);
  listener->fd.reset();
  CHECK(absl::IsNotFound(connect_to(socket).status()));
}

TEST_CASE("the kernel names the processes that have a socket open") {
  const std::string name = unique_name("held");
  const auto listener = listen_as(name, "replica/0", 1);
  REQUIRE(listener.ok());
  CHECK(holders_of_socket(find_sockets(name)->front().inode) == std::vector<pid_t>{::getpid()});
  CHECK(holders_of_socket(0).empty());
}

// Regression: a socket whose queue another user had filled could not be told from one of this user.
TEST_CASE("a socket of another user is not found") {
  if (::geteuid() != 0) {
    std::puts("SKIPPED: only root can give a socket to another user");
    return;
  }
  constexpr uid_t kStranger = 61236;
  const std::string name = unique_name("given");
  const auto own = listen_as(name, "replica/0", 1);
  const auto given = listen_as(name, "replica/1", 1);
  REQUIRE(own.ok());
  REQUIRE(given.ok());
  REQUIRE(::fchown(given->fd.get(), kStranger, kStranger) == 0);
  CHECK(processes(name) == std::vector<std::string>{"replica/0"});
}

// Regression: sockets were read from /proc/net/unix, which prints newlines in names. So a name could have a line of its
// own, with the name and the inode of any other socket.
TEST_CASE("a socket's name cannot forge another socket") {
  const std::string name = unique_name("forged");
  const auto own = listen_as(name, "replica/0", 1);
  REQUIRE(own.ok());
  const InstanceSocket real = find_sockets(name)->front();
  std::vector<Descriptor> forgers;
  for (int i = 0; i < 16; ++i) {  // in any order with the real one
    for (const std::string& forged : {own->name, absl::StrCat("ingot/", name, "/1/AAAAAAA")}) {
      forgers.push_back(bind_name(absl::StrCat("x", i, "\n0: 0 0 00010000 0005 01 1 @", forged), SOCK_SEQPACKET));
      REQUIRE(::listen(forgers.back().get(), 1) == 0);
    }
  }
  const auto found = find_sockets(name);
  REQUIRE(found.ok());
  REQUIRE(found->size() == 1);
  CHECK(found->front().name == own->name);
  CHECK(found->front().inode == real.inode);
}

}  // namespace
}  // namespace ingot
