// Which stable segments of a replica's earlier incarnations are kept: by the supervisor, and by every replica alike.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <utility>

#include "core/types.h"
#include "replication/stable/view.h"
#include "transport/host/segment.h"

namespace ingot {

// Segments of ended incarnations that are kept, the newest ones. Each holds up to kStableSegmentBytes.
inline constexpr std::size_t kEarlierIncarnationsMax = 4;
// The same with those whose votes are in no published snapshot yet: nobody else may have them (docs/agreement.md, History).
inline constexpr std::size_t kNeededIncarnationsMax = 16;

// The stable segment of one incarnation, as those see it who only read it. Null: it is not to be had.
struct IncarnationSegment {
  Incarnation incarnation{1};
  std::shared_ptr<const Segment> memory;
};
using IncarnationSegments = std::deque<IncarnationSegment>;  // of one replica, oldest first; the last is the newest incarnation

// Adds the segment of an incarnation that begins to those of the incarnations before it, oldest first, and drops what
// is not needed:
//  * the one before, if it does not count: it died before it had stored what it was to inherit, so before it said
//    anything to anybody (StableView::ended_before_inheriting). `counts` looks.
//  * those before the newest four that are not `needed`; the oldest that is, if there are far too many. An ended incarnation's segment
//    is needed besides while the configuration names that incarnation as acceptor, or it led in this epoch. A group that has not
//    managed to change that in so many later incarnations of it is told that the segment is missing: then it waits, and says so;
//    nothing is concluded from it (docs/agreement.md).
// So the newest one that counts is always there.
template <typename Entry, typename Counts, typename Needed>
void add_incarnation(std::deque<Entry>& segments, Entry next, Counts counts, Needed needed) {
  if (!segments.empty() && !counts(std::as_const(segments.back()))) segments.pop_back();
  for (std::size_t i = 0; i + kEarlierIncarnationsMax < segments.size();) {
    if (needed(std::as_const(segments[i]))) ++i;
    else segments.erase(segments.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (segments.size() > kNeededIncarnationsMax) segments.pop_front();
  segments.push_back(std::move(next));
}

// Whether an ended incarnation's segment counts: its writer had stored what it was to inherit before it said anything.
inline bool incarnation_counts(std::span<const std::byte> segment, Incarnation incarnation) {
  return incarnation == Incarnation(1) || !StableView::ended_before_inheriting(segment);
}

// Whether a published snapshot of the slots below `sealed` leaves out some that the segment's writer had voted for.
inline bool holds_history(std::span<const std::byte> segment, Slot published) {
  return StableView::accepted_end_in(segment) > published;
}

}  // namespace ingot
