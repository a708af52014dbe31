// Processes of an instance: this very program, started again with a role.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "services/process/launch_spec.h"
#include "services/process/supervision_channel.h"
#include "transport/host/descriptor.h"

namespace ingot {

struct StartedProcess {
  pid_t pid = 0;
  Descriptor pidfd;
  SupervisionChannel channel;  // the supervisor's end
};

// Starts /proc/self/exe as "ingotd @ROLE LAUNCH_FD" with the descriptors of `spec` and `fabric_fds` inherited and
// everything else closed. Should the caller's thread die, the child is continued (SIGCONT), so that even a stopped one
// sees the end of its supervision channel. REQUIRES: the process has one thread. Errors: RESOURCE_EXHAUSTED.
absl::StatusOr<StartedProcess> start_child(const std::string& role, LaunchSpec spec,
                                           const std::vector<int>& fabric_fds);

// A process that waits for its role (services/process/standby_process.h), so that a next incarnation begins without the
// time that starting a program takes. Used by the supervisor's one thread; its end kills the process.
class StandbyProcess {
 public:
  StandbyProcess() = default;
  ~StandbyProcess();
  StandbyProcess(const StandbyProcess&) = delete;
  StandbyProcess& operator=(const StandbyProcess&) = delete;

  // Starts one, unless there is one. Where that fails there is none, which costs nothing but time later.
  void prepare();

  // What start_child does, with the process that waits. None if none does, or if it cannot be told.
  std::optional<StartedProcess> become(const std::string& role, LaunchSpec spec, const std::vector<int>& fabric_fds);

  // It has ended, as waitpid says. REQUIRES: pid().
  void ended() { process_.reset(); }
  // It is of no use, and ends now.
  void discard();

  pid_t pid() const { return process_ ? process_->pid : 0; }  // 0: there is none

 private:
  std::optional<StartedProcess> process_;
};

}  // namespace ingot
