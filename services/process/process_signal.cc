#include "services/process/process_signal.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "transport/shm/descriptor.h"

namespace ingot {

namespace {

absl::Status error_of(pid_t pid, int number) {
  const std::string text = absl::StrCat("cannot signal process ", pid, ": ", std::strerror(number));
  if (number == ESRCH) return absl::NotFoundError(text);
  if (number == EPERM) return absl::PermissionDeniedError(text);
  return absl::UnavailableError(text);
}

// Names this very process from now on, even after it has ended.
absl::Status open_process(pid_t pid, Descriptor& process) {
  process = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  return process.valid() ? absl::OkStatus() : error_of(pid, errno);
}

absl::Status send_to(const Descriptor& process, pid_t pid, int signal) {
  const long sent = ::syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0);
  return sent == 0 ? absl::OkStatus() : error_of(pid, errno);
}

}  // namespace

char process_state(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');  // the name before it may hold anything
  return name_end == std::string::npos || name_end + 2 >= text.size() ? 0 : text[name_end + 2];
}

ProcessCondition condition_of(pid_t pid) {
  if (pid <= 0) return ProcessCondition::kGone;
  switch (process_state(pid)) {
    case 'T':
    case 't':
      return ProcessCondition::kStopped;
    case 0:
    case 'Z':
    case 'X':
      return ProcessCondition::kGone;
    default:
      return ProcessCondition::kRunning;
  }
}

absl::Status send_signal(pid_t pid, int signal) {
  if (pid <= 1) return absl::NotFoundError(absl::StrCat(pid, " is no process of an instance"));
  Descriptor process;
  if (auto status = open_process(pid, process); !status.ok()) return status;
  return send_to(process, pid, signal);
}

// The pid is read before the life, and again once the process is held: what is held is then that life's, or nobody's.
absl::Status send_signal(const ProcessEntry& entry, std::uint64_t incarnation, int signal) {
  const std::uint64_t shown = entry.pid.get_acquire();  // pairs with the supervisor's release after the incarnation
  const auto pid = static_cast<pid_t>(shown);
  if (pid <= 1 || entry.incarnation.get() != incarnation) return absl::NotFoundError("that life has ended");
  Descriptor process;
  if (auto status = open_process(pid, process); !status.ok()) return status;
  if (entry.pid.get_acquire() != shown || entry.incarnation.get() != incarnation) {
    return absl::NotFoundError("that life has ended");
  }
  return send_to(process, pid, signal);
}

}  // namespace ingot
