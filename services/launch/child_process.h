// Starts the processes of an instance: this program, executed again with a role.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "services/launch/launch_spec.h"
#include "services/launch/supervision_channel.h"
#include "transport/host/descriptor.h"

namespace ingot::inline services_launch {

struct StartedProcess {
  pid_t pid = 0;
  Descriptor pidfd;
  SupervisionChannel channel;  // the supervisor's end
};

// Starts /proc/self/exe as "ingotd @ROLE LAUNCH_FD" with the descriptors of `spec` and `fabric_fds` inherited and
// all others closed. When the caller's thread dies, the kernel sends the child SIGCONT, so that even a stopped child
// sees the end of its supervision channel. REQUIRES: the process has one thread. Errors: RESOURCE_EXHAUSTED.
absl::StatusOr<StartedProcess> start_child(const std::string& role, LaunchSpec spec,
                                           const std::vector<int>& fabric_fds);

// A process that waits for its role (services/launch/standby_process.h), so that the next incarnation need not wait
// for a program to start. Used by the supervisor's one thread; the destructor kills the process.
class StandbyProcess {
 public:
  StandbyProcess() = default;
  ~StandbyProcess();
  StandbyProcess(const StandbyProcess&) = delete;
  StandbyProcess& operator=(const StandbyProcess&) = delete;

  // Starts a standby process unless there is one. After a failure there is none, and the next start takes longer.
  void prepare();

  // As start_child, but with the standby process. nullopt: there is none, or its role could not be sent to it.
  std::optional<StartedProcess> become(const std::string& role, LaunchSpec spec, const std::vector<int>& fabric_fds);

  // waitpid reported its end. REQUIRES: pid() != 0.
  void ended() { process_.reset(); }
  // Kills it.
  void discard();

  pid_t pid() const { return process_ ? process_->pid : 0; }  // 0: there is none

 private:
  std::optional<StartedProcess> process_;
};

}  // namespace ingot::services_launch
