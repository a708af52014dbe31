#include "replication/replica/peer_segments.h"

#include "core/check.h"

namespace ingot::inline replication_replica {

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

const IncarnationSegment* PeerSegments::find(ReplicaIncarnation name) const {
  if (name.id.value() >= segments_.size()) return nullptr;
  for (const IncarnationSegment& segment : segments_[name.id.value()]) {
    if (segment.incarnation == name.incarnation) return &segment;
  }
  return nullptr;
}

std::span<const std::byte> PeerSegments::segment_of(ReplicaIncarnation name) const {
  const IncarnationSegment* found = find(name);
  return found != nullptr && found->memory != nullptr ? found->memory->bytes() : std::span<const std::byte>();
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

void PeerSegments::begin(ReplicaIncarnation next, std::shared_ptr<const Segment> segment,
                         absl::FunctionRef<void(ReplicaIncarnation)> died) {
  const std::size_t id = next.id.value();
  INGOT_CHECK(id < segments_.size() && next.incarnation > segments_[id].back().incarnation,
              "incarnations follow one another");
  segments_[id].push_back({next.incarnation, std::move(segment)});
  if (dead(next.id)) return;
  dead_.insert(next.id);
  died({next.id, present_[id]});
}

std::vector<IncarnationSegment> PeerSegments::keep(EndpointId replica, std::span<const Incarnation> kept) {
  INGOT_CHECK(replica.value() < segments_.size(), "a list for one of the replicas");
  return keep_listed(segments_[replica.value()], kept,
                     [](Incarnation unknown) { return IncarnationSegment{unknown, nullptr}; });
}

void PeerSegments::connected(ReplicaIncarnation replica) {
  present_[replica.id.value()] = replica.incarnation;
  dead_.erase(replica.id);
}

absl::StatusOr<StableView> PeerSegments::read(ReplicaIncarnation name, Slot published, Slot from) const {
  const bool ended =
      name.id.value() < segments_.size() && name.incarnation < segments_[name.id.value()].back().incarnation;
  if (ended && find(name) == nullptr) return StableView::released(name.id, name.incarnation, published);
  const std::span<const std::byte> segment = segment_of(name);
  if (segment.empty()) return absl::NotFoundError("the segment is not here");
  // Checked before the segment is read: only the segment of a dead writer is final.
  const WriterState writer = StableView::writer_state(segment);
  if (writer == WriterState::kNone && ended) {
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

}  // namespace ingot::replication_replica
