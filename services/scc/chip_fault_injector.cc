#include "services/scc/chip_fault_injector.h"

#include <future>
#include <memory>

namespace ingot::inline services_scc {
namespace {

using ::ingot::control::v1::DrillRequest;
using ::ingot::control::v1::Hit;

ChipInput::Kind kind_of(DrillRequest::Action action) {
  switch (action) {
    case DrillRequest::ACTION_STOP:
      return ChipInput::Kind::kStop;
    case DrillRequest::ACTION_CONT:
      return ChipInput::Kind::kContinue;
    default:
      return ChipInput::Kind::kKill;
  }
}

}  // namespace

ProcessCondition ChipFaultInjector::condition(const Hit& target) const {
  if (target.replica() >= chip_.view().replicas.size()) return ProcessCondition::kGone;
  switch (static_cast<ProcessState>(chip_.view().daemon->replicas[target.replica()].state.get())) {
    case ProcessState::kDead:
      return ProcessCondition::kGone;
    case ProcessState::kStopped:
      return ProcessCondition::kStopped;
    case ProcessState::kStarting:
    case ProcessState::kUp:
      break;
  }
  return ProcessCondition::kRunning;
}

absl::Status ChipFaultInjector::inject(const Hit& target, DrillRequest::Action action) {
  const auto outcome = std::make_shared<std::promise<absl::Status>>();
  auto injected = outcome->get_future();
  chip_.act({kind_of(action), {}, static_cast<int>(target.replica())},
            [outcome](const absl::Status& status) { outcome->set_value(status); });
  return injected.get();
}

}  // namespace ingot::services_scc
