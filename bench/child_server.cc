#include "bench/child_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ingot::bench {
namespace {

// The first field of schedstat is the time on a core, in ns.
std::uint64_t cpu_ns_of(pid_t pid) {
  std::uint64_t total_ns = 0;
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator(absl::StrCat("/proc/", pid, "/task"), gone)) {
    std::uint64_t ns = 0;
    std::ifstream(task.path() / "schedstat") >> ns;
    total_ns += ns;
    std::ifstream children(task.path() / "children");
    for (pid_t child = 0; children >> child;) total_ns += cpu_ns_of(child);
  }
  return total_ns;
}

}  // namespace

absl::StatusOr<int> free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool bound = ::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(fd);
  if (!bound) return absl::UnavailableError(absl::StrCat("no port of the loopback is free: ", std::strerror(errno)));
  return ntohs(address.sin_port);
}

absl::StatusOr<ChildServer> ChildServer::start(const std::vector<std::string>& command, std::string endpoint) {
  if (::access(command.front().c_str(), X_OK) != 0) {
    return absl::NotFoundError(absl::StrCat(command.front(), " cannot be run: ", std::strerror(errno)));
  }
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) return absl::UnavailableError(absl::StrCat("no process could be started: ", std::strerror(errno)));
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  return ChildServer(pid, std::move(endpoint));
}

ChildServer::ChildServer(ChildServer&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), endpoint_(std::move(other.endpoint_)) {}

ChildServer::~ChildServer() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGTERM);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::uint64_t ChildServer::cpu_ns() const { return cpu_ns_of(pid_); }

bool ChildServer::running() const {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

}  // namespace ingot::bench
