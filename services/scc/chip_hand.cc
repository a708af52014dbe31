#include "services/scc/chip_hand.h"

#include <future>
#include <memory>

namespace ingot {
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

ProcessCondition ChipHand::condition(const Hit& hit) const {
  if (hit.replica() >= chip_.view().replicas.size()) return ProcessCondition::kGone;
  switch (static_cast<ProcessState>(chip_.view().daemon->replicas[hit.replica()].state.get())) {
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

absl::Status ChipHand::strike(const Hit& hit, DrillRequest::Action action) {
  const auto outcome = std::make_shared<std::promise<absl::Status>>();
  auto struck = outcome->get_future();
  chip_.act({kind_of(action), {}, static_cast<int>(hit.replica())},
            [outcome](const absl::Status& status) { outcome->set_value(status); });
  return struck.get();
}

}  // namespace ingot
