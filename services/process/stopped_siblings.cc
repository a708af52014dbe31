#include "services/process/stopped_siblings.h"

#include <signal.h>
#include <sys/stat.h>

#include "absl/strings/str_cat.h"
#include "services/daemon_config.h"
#include "services/process/process_signal.h"
#include "transport/shm/segment.h"

namespace ingot {

namespace {

// Numbers of processes are used again; programs tell them apart well enough for a signal that ends nobody.
bool runs_this_program(pid_t pid) {
  struct stat ours {}, theirs {};
  return ::stat("/proc/self/exe", &ours) == 0 && ::stat(absl::StrCat("/proc/", pid, "/exe").c_str(), &theirs) == 0 &&
         ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

void continue_if_stopped(const ProcessEntry& entry) {
  const auto pid = static_cast<pid_t>(entry.pid.get());
  if (pid > 0 && process_state(pid) == 'T' && runs_this_program(pid)) ::kill(pid, SIGCONT);
}

}  // namespace

void continue_stopped_siblings(const LaunchSpec& spec) {
  const auto segment = Segment::map(spec.daemon_page_fd, Segment::Access::kReadOnly);
  if (!segment.ok() || segment->as<const DaemonPage>() == nullptr) return;
  const DaemonPage& page = *segment->as<const DaemonPage>();
  for (const ReplicaLaunch& launch : spec.replicas) continue_if_stopped(page.replicas[launch.id]);
  continue_if_stopped(page.front_end);
}

}  // namespace ingot
