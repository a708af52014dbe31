#include "services/ingotctl/move_watch.h"

#include <tuple>

namespace ingot::inline services_ingotctl {

const control_v1::Replica* holder_of(control_v1::Role role, const control_v1::GetStatusResponse& status) {
  const auto rank = [](const control_v1::Replica& of) { return std::tuple(of.epoch(), of.ballot()); };
  const control_v1::Replica* holder = nullptr;
  for (const control_v1::Replica& replica : status.replicas()) {
    if (replica.role() != role || replica.state() != control_v1::STATE_UP) continue;
    if (holder == nullptr || rank(replica) > rank(*holder)) holder = &replica;
  }
  return holder;
}

MoveWatch::Outcome MoveWatch::observe(const control_v1::GetStatusResponse& status) {
  holder_.reset();
  if (const control_v1::Replica* holder = holder_of(role_, status)) holder_ = *holder;
  const bool changed = holder_ && (already() || holder_->ballot() > *ballot_before_);
  if (changed && holder_->id() == to_) return Outcome::kDone;
  lost_polls_ = changed ? lost_polls_ + 1 : 0;
  return lost_polls_ >= kPollsToBeSure ? Outcome::kLost : Outcome::kPending;
}

}  // namespace ingot::services_ingotctl
