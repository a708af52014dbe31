#include "services/launch/child_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/launch/pidfd.h"
#include "services/launch/process_signal.h"
#include "services/launch/standby_process.h"

namespace ingot::inline services_launch {

namespace {

// Runs between fork and exec: async-signal-safe calls only.
[[noreturn]] void become(const std::vector<int>& inherited, char* const* argv, char* const* environment, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGCONT);
  if (::getppid() != parent) ::_exit(1);
  for (const int fd : inherited) {
    if (!set_inherited(fd, true)) ::_exit(1);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve("/proc/self/exe", argv, environment);
  ::_exit(127);
}

// What the C library reads at the program's start. A value that the operator has set is kept.
//
// Huge pages, where the system grants them on madvise: a fork copies, and a start fills, a five-hundredth of the
// page-table entries (docs/design/snapshots.md). The front end does not need them.
//
// Freed pieces that a thread keeps at hand, of each size up to 1 KiB: a round takes and frees some for each of its
// requests, of which there are up to some hundred. With the default, 7, most of them go to lists that cost several
// times as much (docs/benchmarks.md). At most 9 MB for a thread.
std::vector<char*> environment_of(std::string_view word) {
  static char front_end[] = "GLIBC_TUNABLES=glibc.malloc.tcache_count=256";
  static char others[] = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.tcache_count=256";
  std::vector<char*> all;
  for (char** each = environ; *each != nullptr; ++each) all.push_back(*each);
  if (std::getenv("GLIBC_TUNABLES") == nullptr) all.push_back(word == "@front-end" ? front_end : others);
  all.push_back(nullptr);
  return all;
}

// Both ends of a supervision channel; both are closed across exec.
struct ControlPair {
  Descriptor supervisor, child;
};

absl::Status exhausted(const char* what) {
  return absl::ResourceExhaustedError(absl::StrCat("cannot ", what, ": ", std::strerror(errno)));
}

absl::StatusOr<ControlPair> make_control_pair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) return exhausted("make a supervision channel");
  return ControlPair{Descriptor(fds[0]), Descriptor(fds[1])};
}

// `word` names the process's role; `argument` follows it on the command line.
absl::StatusOr<StartedProcess> start(std::string word, std::string argument, const std::vector<int>& inherited,
                                     ControlPair control) {
  std::string program = "ingotd";
  char* argv[] = {program.data(), word.data(), argument.data(), nullptr};
  const std::vector<char*> environment = environment_of(word);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return exhausted("fork");
  if (pid == 0) become(inherited, argv, environment.data(), parent);
  Descriptor pidfd(::pidfd_open(pid, 0));  // the child is not reaped yet, so its pid cannot name another process
  if (!pidfd.valid()) {
    const absl::Status status = exhausted("watch a process");
    ::kill(pid, SIGKILL);
    return status;
  }
  return StartedProcess{pid, std::move(pidfd), SupervisionChannel(std::move(control.supervisor))};
}

std::vector<int> all_descriptors(const LaunchSpec& spec, const std::vector<int>& fabric_fds) {
  std::vector<int> fds = spec.descriptors();
  fds.insert(fds.end(), fabric_fds.begin(), fabric_fds.end());
  return fds;
}

}  // namespace

absl::StatusOr<StartedProcess> start_child(const std::string& role, LaunchSpec spec,
                                           const std::vector<int>& fabric_fds) {
  auto control = make_control_pair();
  if (!control.ok()) return control.status();
  spec.control_fd = control->child.get();
  auto launch = write_launch_spec(spec);
  if (!launch.ok()) return launch.status();
  std::vector<int> inherited = all_descriptors(spec, fabric_fds);
  inherited.push_back(spec.control_fd);
  inherited.push_back(launch->get());
  return start("@" + role, std::to_string(launch->get()), inherited, *std::move(control));
}

void StandbyProcess::prepare() {
  if (process_) return;
  auto control = make_control_pair();
  if (!control.ok()) return;
  const int channel = control->child.get();
  // The zeros reserve room in argv for the words that ps shows once the process has a role.
  auto started = start("@standby", absl::StrCat(absl::Dec(channel, absl::kZeroPad20)), {channel}, *std::move(control));
  if (started.ok()) process_ = *std::move(started);
}

std::optional<StartedProcess> StandbyProcess::become(const std::string& role, LaunchSpec spec,
                                                   const std::vector<int>& fabric_fds) {
  if (process_ && process_state(pid()) == 'T') discard();  // stopped: it would not read its role
  if (!process_) return {};
  spec.control_fd = process_->channel.fd();  // a placeholder that differs from all descriptors that are sent
  auto launch = write_launch_spec(spec);
  const absl::Status told =
      launch.ok() ? send_role(process_->channel, "@" + role, all_descriptors(spec, fabric_fds), launch->get(),
                              spec.control_fd)
                  : launch.status();
  if (!told.ok()) {
    discard();
    return {};
  }
  return std::exchange(process_, std::nullopt);
}

StandbyProcess::~StandbyProcess() {
  const pid_t last = pid();
  discard();
  if (last > 0) ::waitpid(last, nullptr, 0);
}

// Children::reap() or the destructor waits for the killed process.
void StandbyProcess::discard() {
  if (!process_) return;
  (void)!::pidfd_send_signal(process_->pidfd.get(), SIGKILL, nullptr, 0);
  process_.reset();
}

}  // namespace ingot::services_launch
