#include "services/status/supervision.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>

#include "replication/pages/page_access.h"
#include "services/launch/process_signal.h"

namespace ingot::inline services_status {
namespace {

using google::protobuf::util::TimeUtil;
using ::ingot::control::v1::Supervisor;

void set_dead(const DaemonConfig& config, const SupervisorLoss* loss, std::uint64_t now_ns, Supervisor& supervisor) {
  const std::int64_t grace_ns = config.orphan_grace_ms * 1'000'000;
  std::int64_t down_ns = 0, ends_in_ns = grace_ns;  // until this process's loop has seen the end, it has just begun
  if (loss != nullptr && loss->lost()) {
    down_ns = static_cast<std::int64_t>(now_ns - loss->since_ns.get());
    ends_in_ns = static_cast<std::int64_t>(loss->leaves_ns.get() - now_ns);
  }
  supervisor.set_state(control::v1::STATE_DEAD);
  *supervisor.mutable_down() = TimeUtil::NanosecondsToDuration(std::max<std::int64_t>(down_ns, 0));
  *supervisor.mutable_ends_in() = TimeUtil::NanosecondsToDuration(std::max<std::int64_t>(ends_in_ns, 0));
}

}  // namespace

// A process whose link is lost has no supervisor until the next one has adopted it, though the page may name that one
// already.
std::optional<Supervisor> read_supervisor(const DaemonConfig& config, const InstanceView& view, std::uint64_t now_ns) {
  const DaemonPage& page = *view.daemon;
  const ProcessName process = supervisor_of(page);
  if (process.started == 0) return std::nullopt;
  Supervisor supervisor;
  supervisor.set_state(control::v1::STATE_UP);
  const ProcessCondition condition = condition_of(static_cast<pid_t>(process.pid), process.started);
  const bool lost = view.loss != nullptr && view.loss->lost();
  if (lost || condition == ProcessCondition::kGone) {
    set_dead(config, view.loss, now_ns, supervisor);
  } else if (condition == ProcessCondition::kStopped) {
    supervisor.set_state(control::v1::STATE_STOPPED);
  }
  return supervisor;
}

ProcessState state_in_kernel(const ProcessEntry& entry) {
  const ProcessName process = process_in(entry);
  switch (condition_of(static_cast<pid_t>(process.pid), process.started)) {
    case ProcessCondition::kGone:
      return ProcessState::kDead;
    case ProcessCondition::kStopped:
      return ProcessState::kStopped;
    case ProcessCondition::kRunning:
      break;
  }
  return ProcessState::kUp;
}

}  // namespace ingot::services_status
