// A model of a stable segment without shared memory: the model's state, and the room of the real ring.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/check.h"
#include "replication/stable/store.h"
#include "replication/stable/view.h"
#include "tests/replication/stable/stable_model.h"
#include "tests/replication/stable/stable_ring_model.h"

namespace ingot {

// Stores, refuses and frees as StableSegment does; a test holds the two side by side. Not thread-safe.
class StableStoreModel final : public StableStore {
 public:
  StableStoreModel(EndpointId replica, Incarnation incarnation,
                   std::size_t capacity_bytes = StableRingModel::kUnbounded)
      : model_(replica, incarnation), ring_(capacity_bytes) {}

  bool store(const StableWrite& write) override {
    if (stable_record_bytes(write) > 0 && !append(write)) return false;
    const StableFixed before = fixed();
    model_.apply(write);
    if (write.kind == StableWrite::Kind::kLeading || fixed().epoch != before.epoch) ring_.roles_changed();
    if (write.kind == StableWrite::Kind::kTrimmed) make_room();
    return true;
  }

  std::size_t capacity_bytes() const override { return ring_.capacity_bytes(); }
  std::size_t used_bytes() const override { return ring_.used_bytes(); }
  void make_room() override { ring_.free_all(fixed()); }
  void clean() override { ring_.clean(fixed()); }
  std::size_t cleanings() const { return ring_.cleanings(); }

  // Injects a bug, for tests of its effects.
  void forget_history() { model_.forget_history(); }

  const StableView& state() const { return model_.state(); }

  // As StableView::read.
  StableView read(Slot from = Slot(0)) const {
    StableView view = state();
    if (!view.accepted.empty()) view.accepted_end = view.accepted.rbegin()->first.next();
    const auto leading = view.proposed.find(view.leader_ballot);
    if (leading != view.proposed.end()) view.proposed_end = leading->second.rbegin()->first.next();
    const auto leave_out = [from](auto& slots) { slots.erase(slots.begin(), slots.lower_bound(from)); };
    leave_out(view.accepted);
    leave_out(view.history);
    for (auto& [ballot, slots] : view.proposed) leave_out(slots);
    std::erase_if(view.proposed, [](const auto& each) { return each.second.empty(); });
    return view;
  }

  // As StableView::extent_in.
  StableExtent extent() const { return {accepted_end_, state().leader_ballot}; }

 private:
  StableFixed fixed() const {
    const StableView& view = state();
    return {view.epoch.value(),        view.promised.value(),      view.trimmed.value(),
            view.leader_epoch.value(), view.leader_ballot.value(), view.leader_trimmed.value()};
  }

  bool append(const StableWrite& write) {
    StableRecord record{};
    record.kind = write.kind == StableWrite::Kind::kAccepted   ? StableRecordKind::kAccepted
                  : write.kind == StableWrite::Kind::kProposed ? StableRecordKind::kProposed
                                                               : StableRecordKind::kOutcome;
    record.bytes = write.command == nullptr ? 0 : static_cast<std::uint32_t>(write.command->size());
    record.epoch = write.epoch.value();
    record.ballot = write.ballot.value();
    record.slot = write.slot.value();
    if (!ring_.append(record, fixed())) return false;
    if (record.kind == StableRecordKind::kAccepted) accepted_end_ = std::max(accepted_end_, write.slot.next());
    return true;
  }

  StableModel model_;
  StableRingModel ring_;
  Slot accepted_end_;
};

}  // namespace ingot
