#include "replication/replica/proposals.h"

#include <utility>

namespace ingot::inline replication_replica {

void Proposals::note_leadership(absl::FunctionRef<void(const Request&)> turn_away) {
  const Ballot leads = agreement_.role() == Role::kLeader ? agreement_.ballot() : Ballot(0);
  if (leads == leads_) return;
  leads_ = leads;
  forget();
  while (leads == Ballot(0) && !batcher_.empty()) {
    const auto batch = batcher_.take();
    const auto commands = decode_batch(*batch);
    for (const Request& command : *commands) {
      batcher_.decided(command);
      turn_away(command);
    }
  }
}

bool Proposals::may_propose() const {
  if (batcher_.empty() || window_bytes_ >= bounds_.window_bytes || !agreement_.can_propose()) return false;
  return batcher_.full_batch() || static_cast<int>(window_.size()) < bounds_.pipeline_slots;
}

int Proposals::propose(absl::FunctionRef<bool()> has_room, Effects& effects) {
  int slots = 0;
  for (; may_propose() && has_room(); ++slots) {
    auto batch = batcher_.take();
    window_.push_back({agreement_.next_slot(), batch->size()});
    window_bytes_ += batch->size();
    agreement_.propose(next_id_++, std::move(batch), effects);
  }
  return slots;
}

void Proposals::applied(Slot applied) {
  while (!window_.empty() && window_.front().slot < applied) {
    window_bytes_ -= window_.front().bytes;
    window_.pop_front();
  }
}

void Proposals::forget() {
  batcher_.forget_proposals();
  window_.clear();
  window_bytes_ = 0;
}

void Proposals::forget_below(Slot applied_below) {
  batcher_.forget_proposals();
  applied(applied_below);
}

}  // namespace ingot::replication_replica
