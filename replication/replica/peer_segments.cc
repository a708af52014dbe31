#include "replication/replica/peer_segments.h"

#include "core/check.h"

namespace ingot {

PeerSegments::PeerSegments(EndpointId self, std::vector<IncarnationSegments> segments)
    : self_(self), segments_(std::move(segments)) {
  for (IncarnationSegments& each : segments_) {
    if (each.empty()) each.emplace_back();
    present_.push_back(each.back().incarnation);
  }
}

std::vector<Incarnation> PeerSegments::newest() const {
  std::vector<Incarnation> newest;
  for (const IncarnationSegments& each : segments_) newest.push_back(each.back().incarnation);
  return newest;
}

std::span<const std::byte> PeerSegments::segment_of(ReplicaIncarnation name) const {
  if (name.id.value() >= segments_.size()) return {};
  for (const IncarnationSegment& segment : segments_[name.id.value()]) {
    if (segment.incarnation == name.incarnation && segment.memory != nullptr) return segment.memory->bytes();
  }
  return {};
}

void PeerSegments::read_all(Slot from, absl::FunctionRef<void(const StableView&)> each) const {
  for (const IncarnationSegments& segments : segments_) {
    for (const IncarnationSegment& segment : segments) {
      if (segment.memory == nullptr) continue;
      if (const auto view = StableView::read(segment.memory->bytes(), from); view.ok()) each(*view);
    }
  }
}

void PeerSegments::poll(absl::FunctionRef<void(ReplicaIncarnation)> died) {
  for (std::uint16_t id = 0; id < segments_.size(); ++id) {
    const ReplicaIncarnation name{EndpointId(id), present_[id]};
    if (name.id == self_ || dead(name.id) || StableView::writer_state(segment_of(name)) != WriterState::kGone) continue;
    dead_.insert(name.id);
    died(name);
  }
}

void PeerSegments::begin(ReplicaIncarnation next, std::shared_ptr<const Segment> segment, Slot published,
                         absl::FunctionRef<void(ReplicaIncarnation)> died) {
  const std::size_t id = next.id.value();
  INGOT_CHECK(id < segments_.size() && next.incarnation > segments_[id].back().incarnation,
              "incarnations follow one another");
  const auto counts = [](const IncarnationSegment& ended) {
    return ended.memory == nullptr || incarnation_counts(ended.memory->bytes(), ended.incarnation);
  };
  const auto needed = [&](const IncarnationSegment& ended) {
    return ended.memory != nullptr && holds_history(ended.memory->bytes(), published);
  };
  add_incarnation(segments_[id], IncarnationSegment{next.incarnation, std::move(segment)}, counts, needed);
  if (dead(next.id)) return;
  dead_.insert(next.id);
  died({next.id, present_[id]});
}

void PeerSegments::connected(ReplicaIncarnation replica) {
  present_[replica.id.value()] = replica.incarnation;
  dead_.erase(replica.id);
}

absl::StatusOr<StableView> PeerSegments::read(ReplicaIncarnation name, Slot from) const {
  const std::span<const std::byte> segment = segment_of(name);
  if (segment.empty()) return absl::NotFoundError("the segment is not here");
  // Checked before the segment is read: only the segment of a dead writer is final.
  const WriterState writer = StableView::writer_state(segment);
  if (writer == WriterState::kNone && name.incarnation < segments_[name.id.value()].back().incarnation) {
    StableView nothing;
    nothing.replica = name.id;
    nothing.incarnation = name.incarnation;
    return nothing;
  }
  if (writer != WriterState::kGone) return absl::FailedPreconditionError("its writer may live");
  auto view = StableView::read(segment, from);
  if (view.ok() && (view->incarnation != name.incarnation || view->replica != name.id)) {
    return absl::NotFoundError("the segment is of another incarnation");
  }
  return view;
}

}  // namespace ingot
