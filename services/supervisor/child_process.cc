#include "services/supervisor/child_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace ingot {

namespace {

// Between fork and exec: async-signal-safe calls only.
[[noreturn]] void become(const std::vector<int>& inherited, char* const* argv, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGCONT);
  if (::getppid() != parent) ::_exit(1);
  for (const int fd : inherited) {
    if (!set_inherited(fd, true)) ::_exit(1);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execv("/proc/self/exe", argv);
  ::_exit(127);
}

}  // namespace

absl::StatusOr<ControlPair> make_control_pair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot make a control channel: ", std::strerror(errno)));
  }
  return ControlPair{Descriptor(fds[0]), Descriptor(fds[1])};
}

absl::StatusOr<pid_t> start_child(const std::string& role, const LaunchSpec& spec, const std::vector<int>& fabric_fds) {
  auto launch = write_launch_spec(spec);
  if (!launch.ok()) return launch.status();
  std::vector<int> inherited = spec.descriptors();
  inherited.insert(inherited.end(), fabric_fds.begin(), fabric_fds.end());
  inherited.push_back(launch->get());
  std::string words[] = {"ingotd", "@" + role, std::to_string(launch->get())};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return absl::ResourceExhaustedError(absl::StrCat("cannot fork: ", std::strerror(errno)));
  if (pid == 0) become(inherited, argv, parent);
  return pid;
}

}  // namespace ingot
