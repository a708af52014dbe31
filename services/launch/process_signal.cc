#include "services/launch/process_signal.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "replication/pages/page_access.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_launch {

namespace {

absl::Status error_of(pid_t pid, int number) {
  const std::string text = absl::StrCat("cannot signal process ", pid, ": ", std::strerror(number));
  if (number == ESRCH) return absl::NotFoundError(text);
  if (number == EPERM) return absl::PermissionDeniedError(text);
  return absl::UnavailableError(text);
}

// The fields of /proc/PID/stat (proc(5)) from the third one, the state, on; none: there is no such process.
std::vector<std::string> stat_fields(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');  // the name before it may contain spaces and parentheses
  if (name_end == std::string::npos) return {};
  return absl::StrSplit(text.substr(name_end + 1), ' ', absl::SkipWhitespace());
}

char state_in(const std::vector<std::string>& fields) { return fields.empty() ? 0 : fields[0][0]; }

std::uint64_t start_in(const std::vector<std::string>& fields) {
  constexpr std::size_t kStartTime = 22 - 3;  // starttime is the 22nd
  std::uint64_t ticks = 0;
  return fields.size() > kStartTime && absl::SimpleAtoi(fields[kStartTime], &ticks) ? ticks : 0;
}

ProcessCondition condition_in(char state) {
  switch (state) {
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

}  // namespace

char process_state(pid_t pid) { return state_in(stat_fields(pid)); }

std::uint64_t process_start(pid_t pid) { return start_in(stat_fields(pid)); }

ProcessCondition condition_of(pid_t pid) {
  return pid <= 0 ? ProcessCondition::kGone : condition_in(process_state(pid));
}

ProcessCondition condition_of(pid_t pid, std::uint64_t started) {
  if (pid <= 0) return ProcessCondition::kGone;
  const std::vector<std::string> fields = stat_fields(pid);
  if (fields.empty() && ::kill(pid, 0) == 0) return ProcessCondition::kRunning;
  if (started == 0) return condition_in(state_in(fields));
  return start_in(fields) == started ? condition_in(state_in(fields)) : ProcessCondition::kGone;
}

// While the pidfd's process exists, no other process has its pid. So if the signal is delivered through the pidfd, it
// goes to the process whose start time was checked.
absl::Status send_signal(pid_t pid, std::uint64_t started, int signal) {
  if (pid <= 1 || started == 0) return absl::NotFoundError(absl::StrCat(pid, " is no process of an instance"));
  const Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process.valid()) return error_of(pid, errno);
  if (process_start(pid) != started) return error_of(pid, ESRCH);
  const long sent = ::syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0);
  return sent == 0 ? absl::OkStatus() : error_of(pid, errno);
}

absl::Status send_signal(const ProcessEntry& entry, std::uint64_t incarnation, int signal) {
  const std::optional<ProcessName> process = process_of(entry, incarnation);
  if (!process) return absl::NotFoundError("that incarnation has ended");
  return send_signal(static_cast<pid_t>(process->pid), process->started, signal);
}

}  // namespace ingot::services_launch
