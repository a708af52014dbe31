// The Unix socket's file: who gets it, who may connect, and what is never replaced.
#include "services/sockets/unix_listener.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/config/daemon_config.h"
#include "services/sockets/configured_socket.h"
#include "tests/services/sockets/short_folder.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;

Descriptor connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  Descriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 ? std::move(fd) : Descriptor();
}

UnixListener bound_at(const std::string& path, const SocketRights& rights = {}) {
  auto bound = UnixListener::bind(path, rights);
  INFO(bound.status());
  REQUIRE(bound.ok());
  return *std::move(bound);
}

std::string refusal(const std::string& path, absl::StatusCode code = absl::StatusCode::kFailedPrecondition) {
  const auto bound = UnixListener::bind(path, {});
  CHECK(bound.status().code() == code);
  return std::string(bound.status().message());
}

mode_t mode_of(const std::string& path) {
  struct stat info {};
  REQUIRE(::lstat(path.c_str(), &info) == 0);
  return info.st_mode & 07777;
}

// Leaves the file behind, as a process does that is killed.
void die_with(UnixListener listener) { listener.leave_file(); }

TEST_CASE("the folder is made, clients connect, and nothing remains at the end") {
  const ShortFolder folder;
  const std::string path = folder / "new/a.sock";
  {
    const ::mode_t mask = ::umask(077);
    const UnixListener listener = bound_at(path);
    ::umask(mask);
    CHECK(mode_of(folder / "new") == 0755);
    CHECK(mode_of(path) == 0660);
    CHECK(listener.has_file());
    const Descriptor client = connect_to(path);
    REQUIRE(client.valid());
    CHECK(Descriptor(::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC)).valid());
    CHECK(::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC) == -1);  // does not block
  }
  CHECK(fs::is_empty(folder / "new"));
}

TEST_CASE("the file has the rights and the group that are asked for") {
  const ShortFolder folder;
  const auto rights = socket_rights("0606", std::to_string(::getegid()));
  REQUIRE(rights.ok());
  const UnixListener listener = bound_at(folder / "a.sock", *rights);
  CHECK(mode_of(folder / "a.sock") == 0606);
  CHECK(socket_rights("640", "")->mode == 0640);
  CHECK(socket_rights("0660", "root")->group == gid_t{0});
  const auto unknown = socket_rights("0660", "no-such-group");
  CHECK(absl::IsInvalidArgument(unknown.status()));
  CHECK_THAT(std::string(unknown.status().message()), Contains("--socket-group=no-such-group"));
}

TEST_CASE("a group that this user may not give the file to leaves nothing behind") {
  const ShortFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {  // as root, a user without rights
    if (::geteuid() == 0 && (::chown(folder.path().c_str(), 61236, 61236) != 0 || ::setgroups(0, nullptr) != 0 ||
                             ::setgid(61236) != 0 || ::setuid(61236) != 0)) {
      ::_exit(1);
    }
    const auto bound = UnixListener::bind(folder / "a.sock", {0660, gid_t{0}});
    const bool said = std::string(bound.status().message()).find("--socket-group") != std::string::npos;
    ::_exit(!bound.ok() && said && fs::is_empty(folder.path()) ? 0 : 2);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("what a dead instance left behind is replaced, and what a living one has is not") {
  const ShortFolder folder;
  const std::string path = folder / "a.sock";
  die_with(bound_at(path));
  CHECK(fs::is_socket(path));
  CHECK_FALSE(connect_to(path).valid());
  UnixListener listener = bound_at(path);
  const std::string sentence = refusal(path, absl::StatusCode::kAlreadyExists);
  CHECK_THAT(sentence, Contains(absl::StrCat(path, " is in use by process ", ::getpid(), " (")));
  CHECK_THAT(sentence, Contains(absl::StrCat("user ", ::geteuid(), "); ")));
  CHECK_THAT(sentence, Contains("--socket=PATH"));
  CHECK(listener.has_file());
}

// Its supervisor has died; other processes have the socket.
TEST_CASE("a socket whose supervisor has died is in use as long as another process has it") {
  const ShortFolder folder;
  const std::string path = folder / "a.sock";
  int fds[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds) == 0);
  const Descriptor here(fds[0]);
  Descriptor there(fds[1]);
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {
    auto bound = UnixListener::bind(path, {});
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
    char byte = 0;
    iovec data{&byte, 1};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    const int fd = bound.ok() ? bound->fd() : -1;
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    ::_exit(::sendmsg(there.get(), &message, 0) == 1 ? 0 : 1);  // without destructors: it is killed
  }
  int status = 0;
  REQUIRE(::waitpid(supervisor, &status, 0) == supervisor);
  REQUIRE(WEXITSTATUS(status) == 0);  // its socket is in flight: still open
  CHECK_THAT(refusal(path, absl::StatusCode::kAlreadyExists), Contains("whose supervisor"));
  there.reset();
}

TEST_CASE("files of other kinds and symbolic links are never replaced") {
  const ShortFolder folder;
  std::ofstream(folder / "file") << "precious";
  fs::create_directory(folder / "folder");
  die_with(bound_at(folder / "stale"));
  fs::create_symlink(folder / "file", folder / "link");
  fs::create_symlink(folder / "stale", folder / "to-stale");
  fs::create_symlink(folder / "nothing", folder / "dangling");
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  for (const char* name : {"file", "folder", "link", "to-stale", "dangling", "fifo"}) {
    CAPTURE(name);
    CHECK_THAT(refusal(folder / name), Contains("is no socket"));
    CHECK(fs::symlink_status(folder / name).type() != fs::file_type::socket);
    CHECK(fs::exists(fs::symlink_status(folder / name)));
  }
  CHECK(fs::file_size(folder / "file") == 8);
  CHECK(fs::is_socket(folder / "stale"));
  CHECK_FALSE(fs::exists(folder / "nothing"));
}

TEST_CASE("a folder that cannot be made is said") {
  const ShortFolder folder;
  CHECK_THAT(refusal(folder / "a/b/c.sock"), Contains(folder / "a/b"));
  std::ofstream(folder / "file") << "x";
  CHECK_THAT(refusal(folder / "file/c.sock"), Contains("--socket=PATH"));
}

TEST_CASE("a file that was removed or replaced is no longer this socket's, and is left alone") {
  const ShortFolder folder;
  const std::string path = folder / "a.sock";
  {
    const UnixListener listener = bound_at(path);
    fs::remove(path);
    CHECK_FALSE(listener.has_file());
    const UnixListener next = bound_at(path);
    CHECK_FALSE(listener.has_file());
    CHECK(next.has_file());
    CHECK_FALSE(listener.file() == next.file());
    remove_socket_file(path, listener.file());
    CHECK(next.has_file());
  }
  CHECK_FALSE(fs::exists(path));
}

TEST_CASE("a listener that moves takes its file along") {
  const ShortFolder folder;
  const std::string path = folder / "a.sock";
  UnixListener listener;
  CHECK_FALSE(listener.has_file());
  listener = bound_at(path);
  CHECK(listener.has_file());
  UnixListener other = std::move(listener);
  CHECK(other.has_file());
  const std::string second = folder / "b.sock";
  other = bound_at(second);  // the one before has ended
  CHECK_FALSE(fs::exists(path));
  other.remove_file();
  CHECK_FALSE(fs::exists(second));
}

// Each holds what it has got until all have tried.
TEST_CASE("of many processes that want one path, exactly one gets it") {
  const ShortFolder folder;
  const std::string path = folder / "a.sock";
  for (int round = 0; round < 20; ++round) {
    if (round % 2 == 1) die_with(bound_at(path));  // a stale file, and none
    int results[2], go[2];
    REQUIRE(::pipe(results) == 0);
    REQUIRE(::pipe(go) == 0);
    constexpr int kProcesses = 8;
    std::vector<pid_t> all;
    for (int i = 0; i < kProcesses; ++i) {
      const pid_t child = ::fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        ::close(go[1]);
        const auto bound = UnixListener::bind(path, {});
        const char outcome = bound.ok() ? 'g' : absl::IsAlreadyExists(bound.status()) ? 'r' : '?';
        char ignored = 0;
        if (::write(results[1], &outcome, 1) != 1 || ::read(go[0], &ignored, 1) != 0) ::_exit(1);
        ::_exit(0);  // leaves its file
      }
      all.push_back(child);
    }
    std::string outcomes(kProcesses, ' ');
    for (char& each : outcomes) REQUIRE(::read(results[0], &each, 1) == 1);
    CHECK(std::count(outcomes.begin(), outcomes.end(), 'g') == 1);
    CHECK(std::count(outcomes.begin(), outcomes.end(), 'r') == kProcesses - 1);
    CHECK(connect_to(path).valid());
    for (const int fd : {results[0], results[1], go[0], go[1]}) ::close(fd);
    for (const pid_t each : all) ::waitpid(each, nullptr, 0);
    CHECK_FALSE(fs::exists(path + ".lock"));
  }
}

TEST_CASE("a lock that is held is waited for, and a dead process holds none") {
  const ShortFolder folder;
  const std::string path = folder / "a.sock", lock = path + ".lock";
  const pid_t child = ::fork();
  if (child == 0) {
    const int fd = ::open(lock.c_str(), O_RDWR | O_CREAT, 0600);
    ::_exit(::flock(fd, LOCK_EX) == 0 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WEXITSTATUS(status) == 0);
  CHECK(bound_at(path).has_file());
  CHECK_FALSE(fs::exists(lock));
  fs::create_symlink(folder / "elsewhere", lock);
  CHECK_THAT(refusal(path), Contains(lock));
  CHECK_FALSE(fs::exists(folder / "elsewhere"));
}

DaemonConfig named(const std::string& socket, const ShortFolder& folder) {
  DaemonConfig config;
  config.name = absl::StrCat("socket-test-", ::getpid());
  config.socket = socket;
  ::setenv("RUNTIME_DIRECTORY", folder.path().c_str(), 1);
  return config;
}

TEST_CASE("the settings choose a path, the first default one that can be had, or none") {
  const ShortFolder folder;
  DaemonConfig none = named("", folder);
  const auto nothing = open_configured_socket(none);
  REQUIRE(nothing.ok());
  CHECK_FALSE(nothing->listener.valid());
  CHECK(nothing->why_none.empty());

  DaemonConfig automatic = named(kAutomaticSocket, folder);
  const std::string expected = folder / (automatic.name + ".sock");
  const auto first = open_configured_socket(automatic);
  REQUIRE(first.ok());
  CHECK(automatic.socket == expected);
  CHECK(first->listener.has_file());

  DaemonConfig again = named(kAutomaticSocket, folder);  // it is not put elsewhere: clients would find the first
  CHECK(absl::IsAlreadyExists(open_configured_socket(again).status()));
  DaemonConfig explicit_path = named(folder / "b.sock", folder);
  CHECK(open_configured_socket(explicit_path).ok());
  CHECK(explicit_path.socket == folder / "b.sock");
}

TEST_CASE("where no default path can be had, the log says why") {
  if (::geteuid() != 0) {
    WARN("SKIPPED: only root can become a user without folders");
    return;
  }
  const ShortFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgroups(0, nullptr) != 0 || ::setgid(61236) != 0 || ::setuid(61236) != 0) ::_exit(1);
    DaemonConfig config = named(kAutomaticSocket, folder);  // the folder is root's
    ::setenv("XDG_RUNTIME_DIR", "/proc/none", 1);
    const auto opened = open_configured_socket(config);
    const bool right = opened.ok() && !opened->listener.valid() && config.socket.empty() &&
                       opened->why_none.find("--socket=PATH") != std::string::npos &&
                       opened->why_none.find(folder.path()) != std::string::npos;
    ::_exit(right ? 0 : 2);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace ingot
