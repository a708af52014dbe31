#include "replication/agreement/learner.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/check.h"
#include "replication/agreement/limits.h"

namespace ingot::inline replication_agreement {

Learner::Learner(const AgreementBounds& bounds)
    : log_(bounds.command_log_slots, bounds.command_log_bytes),
      ahead_(std::bit_ceil(static_cast<std::size_t>(bounds.learner_ahead_slots))) {
  // Otherwise leader and acceptor could both drop a decided slot of the window, and no command log would have it.
  INGOT_CHECK(bounds.window_slots <= bounds.learner_ahead_slots);
}

bool Learner::knows(Slot slot) const { return slot < decided() || (in_reach(slot) && ahead(slot) != nullptr); }

Learner::Command Learner::command(Slot slot) const {
  if (slot >= decided()) return in_reach(slot) ? ahead(slot) : nullptr;
  return slot >= log_.first() ? log_.at(slot) : nullptr;
}

Slot Learner::known_end() const {
  Slot end = decided();
  std::size_t left = ahead_entries_;
  for (Slot slot = decided(); left > 0; slot = slot.next()) {
    if (!ahead(slot)) continue;
    end = slot.next();
    --left;
  }
  return end;
}

void Learner::learn(Slot slot, const Command& command, Effects& effects) {
  note_known(slot.next());
  if (knows(slot)) return;
  if (slot == decided()) {
    emit(command, effects);
    if (ahead_entries_ > 0) emit_ahead(effects);
    return;
  }
  if (!in_reach(slot) || ahead_bytes_ + command->size() > kLearnerAheadBytesMax) return;
  ahead(slot) = command;
  ahead_bytes_ += command->size();
  ++ahead_entries_;
}

void Learner::installed(Slot first_undecided, Effects& effects) {
  if (first_undecided <= decided()) return;
  for (Slot slot = decided(); ahead_entries_ > 0 && slot < first_undecided && in_reach(slot); slot = slot.next()) {
    if (!ahead(slot)) continue;
    ahead_bytes_ -= ahead(slot)->size();
    --ahead_entries_;
    ahead(slot) = nullptr;
  }
  log_.restart(first_undecided);
  note_known(first_undecided);
  emit_ahead(effects);
}

void Learner::emit(Command command, Effects& effects) {
  effects.decided.push_back({decided(), command});
  log_.append(std::move(command));
}

void Learner::emit_ahead(Effects& effects) {
  while (ahead_entries_ > 0 && ahead(decided())) {
    Command command = std::exchange(ahead(decided()), nullptr);
    ahead_bytes_ -= command->size();
    --ahead_entries_;
    emit(std::move(command), effects);
  }
}

}  // namespace ingot::replication_agreement
