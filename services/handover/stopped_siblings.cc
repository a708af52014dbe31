#include "services/handover/stopped_siblings.h"

#include <signal.h>

#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"
#include "services/launch/process_signal.h"
#include "transport/host/segment.h"

namespace ingot::inline services_handover {

namespace {

void continue_if_stopped(const ProcessEntry& entry) {
  if (condition_of(static_cast<pid_t>(entry.pid.get())) != ProcessCondition::kStopped) return;
  send_signal(entry, entry.incarnation.get(), SIGCONT).IgnoreError();
}

}  // namespace

void continue_stopped_siblings(const LaunchSpec& spec) {
  const auto segment = Segment::map(spec.daemon_page_fd, Segment::Access::kReadOnly);
  if (!segment.ok() || segment->as<const DaemonPage>() == nullptr) return;
  const DaemonPage& page = *segment->as<const DaemonPage>();
  for (const ReplicaLaunch& launch : spec.replicas) continue_if_stopped(page.replicas[launch.id]);
  continue_if_stopped(page.front_end);
}

}  // namespace ingot::services_handover
