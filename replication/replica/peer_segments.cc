#include "replication/replica/peer_segments.h"

#include "core/check.h"

namespace ingot {

PeerSegments::PeerSegments(EndpointId self, std::vector<LifeSegments> lives, std::vector<const ReplicaPage*> pages)
    : self_(self), lives_(std::move(lives)), pages_(std::move(pages)), returns_at_(lives_.size()) {
  for (LifeSegments& each : lives_) {
    if (each.empty()) each.emplace_back();
    present_.push_back(each.back().incarnation);
  }
}

std::span<const std::byte> PeerSegments::segment_of(ReplicaName name) const {
  if (name.id.value() >= lives_.size()) return {};
  for (const LifeSegment& life : lives_[name.id.value()]) {
    if (life.incarnation == name.incarnation && life.memory != nullptr) return life.memory->bytes();
  }
  return {};
}

void PeerSegments::read_all(Slot from, absl::FunctionRef<void(const StableView&)> each) const {
  for (const LifeSegments& lives : lives_) {
    for (const LifeSegment& life : lives) {
      if (life.memory == nullptr) continue;
      if (const auto view = StableView::read(life.memory->bytes(), from); view.ok()) each(*view);
    }
  }
}

void PeerSegments::look(absl::FunctionRef<void(ReplicaName)> died) {
  for (std::uint16_t id = 0; id < lives_.size(); ++id) {
    const ReplicaName name{EndpointId(id), present_[id]};
    if (name.id == self_ || dead(name.id) || StableView::writer_state(segment_of(name)) != WriterState::kGone) continue;
    dead_ |= mask_of(name.id);
    away_ |= mask_of(name.id);
    died(name);
  }
}

void PeerSegments::begin(ReplicaName next, std::shared_ptr<const Segment> segment, Slot sealed,
                         absl::FunctionRef<void(ReplicaName)> died) {
  const std::size_t id = next.id.value();
  INGOT_CHECK(id < lives_.size() && next.incarnation > lives_[id].back().incarnation, "lives follow one another");
  const auto counts = [](const LifeSegment& ended) {
    return ended.memory == nullptr || life_counts(ended.memory->bytes(), ended.incarnation);
  };
  const auto needed = [&](const LifeSegment& ended) {
    return ended.memory != nullptr && holds_history(ended.memory->bytes(), sealed);
  };
  add_life(lives_[id], LifeSegment{next.incarnation, std::move(segment)}, counts, needed);
  if (dead(next.id)) return;
  dead_ |= mask_of(next.id);
  away_ |= mask_of(next.id);
  died({next.id, present_[id]});
}

void PeerSegments::back(ReplicaName name, Slot applied_here) {
  const std::size_t id = name.id.value();
  present_[id] = name.incarnation;
  returns_at_[id] = applied_here;
  dead_ &= ~mask_of(name.id);
  if (id >= pages_.size()) away_ &= ~mask_of(name.id);
}

void PeerSegments::note_returns() {
  if (away_ == dead_) return;
  for (std::uint16_t id = 0; id < pages_.size(); ++id) {
    const EndpointId replica(id);
    if (dead(replica) || !away(replica)) continue;
    // Acquire: what the page shows after that is of this life, no more what its predecessor left there.
    if (pages_[id]->incarnation.get_acquire() != present_[id].value()) continue;
    const Slot applied((*pages_[id])[ReplicaCounter::kAppliedSlots].get());
    if (applied >= returns_at_[id]) away_ &= ~mask_of(replica);
  }
}

absl::StatusOr<StableView> PeerSegments::read(ReplicaName name, Slot from) const {
  const std::span<const std::byte> segment = segment_of(name);
  if (segment.empty()) return absl::NotFoundError("the segment is not here");
  // Before it is read: only the segment of a dead writer is final.
  const WriterState writer = StableView::writer_state(segment);
  if (writer == WriterState::kNone && name.incarnation < newest(name.id).incarnation) {
    StableView nothing;
    nothing.replica = name.id;
    nothing.incarnation = name.incarnation;
    return nothing;
  }
  if (writer != WriterState::kGone) return absl::FailedPreconditionError("its writer may live");
  auto view = StableView::read(segment, from);
  if (view.ok() && (view->incarnation != name.incarnation || view->replica != name.id)) {
    return absl::NotFoundError("the segment is of another life");
  }
  return view;
}

}  // namespace ingot
