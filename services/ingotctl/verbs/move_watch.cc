#include "services/ingotctl/verbs/move_watch.h"

#include "services/ingotctl/render/role_history.h"

namespace ingot {

MoveWatch::Outcome MoveWatch::observe(const control_v1::GetStatusResponse& status) {
  holder_.reset();
  if (const control_v1::Replica* holder = holder_of(role_, status)) holder_ = *holder;
  const bool changed = holder_ && holder_->ballot() > ballot_before_;
  if (changed && holder_->id() == to_) return Outcome::kDone;
  lost_polls_ = changed ? lost_polls_ + 1 : 0;
  return lost_polls_ >= kPollsToBeSure ? Outcome::kLost : Outcome::kPending;
}

}  // namespace ingot
