// How runs end before they are complete: failures, cancellation, retired groups, dead endpoints.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/collectives/progress_engine.h"

namespace ingot::inline transport_collectives {

void ProgressEngine::fail(Schedule& schedule, std::string why) {
  forget(schedule);
  if (schedule.offers_left_ > 0) one_copy_.by->withdraw();
  schedule.failure_ = std::move(why);
  end(schedule, Schedule::State::kFailed);
}

// Takes the schedule's nodes out of every queue. Places of ready_ stay, since run_ready may be iterating over them.
void ProgressEngine::forget(const Schedule& schedule) {
  for (auto& ref : ready_) {
    if (ref.schedule == &schedule) ref.schedule = nullptr;
  }
  std::erase_if(groups_[schedule.group_.value()]->too_soon,
                [&](const NodeRef& ref) { return ref.schedule == &schedule; });
  for (const EndpointId peer : blocked_peers_) {
    // Payloads become announcements that this endpoint has started more operations. Answers stay.
    for (auto& entry : blocked_[peer.value()].entries) {
      if (entry.schedule != &schedule) continue;
      if (entry.header == 0) entry.header = ScheduleHeader{ScheduleClass::kStarted, schedule.group_, 0, {}}.encode();
      entry.schedule = nullptr;
    }
  }
}

void ProgressEngine::cancel(Schedule& schedule) {
  if (schedule.state() == Schedule::State::kRunning) fail(schedule, "it was cancelled");
}

void ProgressEngine::retire(GroupId id) {
  if (id.value() >= kGroupIdsMax) return;
  retired_[id.value()] = true;
  EngineGroup* group = groups_[id.value()].get();
  if (group == nullptr) return;
  for (auto& place : group->places) {
    if (place.running != nullptr) fail(*place.running, absl::StrCat("group ", id.value(), " was retired"));
    for (std::uint32_t i = place.held_first; i != HeldMessages::kNone;) {
      const auto& message = held_[i];
      const std::uint32_t next = message.next;
      if (message.offer) drop(message.from, {ScheduleClass::kOffer, id, message.tag, group->awaited_at(place)});
      held_.free(i);
      i = next;
    }
  }
  buried_.push_back(std::move(groups_[id.value()]));
  --groups_in_use_;
}

void ProgressEngine::endpoint_gone(EndpointId endpoint) {
  if (endpoint.value() >= gone_.size()) return;
  gone_[endpoint.value()] = any_gone_ = true;
  const auto exchanges = [&](const Schedule& schedule) {
    return std::any_of(schedule.nodes_.begin(), schedule.nodes_.end(), [&](const Schedule::Node& node) {
      return node.kind != Schedule::Kind::kCompute && node.peer == endpoint;
    });
  };
  for (const auto& group : groups_) {
    if (group == nullptr) continue;
    for (auto& place : group->places) {
      if (place.running != nullptr && exchanges(*place.running)) {
        fail(*place.running, absl::StrCat("endpoint ", endpoint.value(), " is gone"));
      }
    }
  }
  blocked_[endpoint.value()] = {};
  std::erase(blocked_peers_, endpoint);
}

}  // namespace ingot::transport_collectives
