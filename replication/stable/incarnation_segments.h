// Which stable segments of a replica's earlier incarnations are kept. The supervisor and all replicas apply the same
// rules.
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

// The newest segments of ended incarnations are kept: this many. Each holds up to kStableSegmentBytes.
inline constexpr std::size_t kEarlierIncarnationsMax = 4;
// The limit with those whose votes no published snapshot covers yet: they may be the only copy (docs/agreement.md,
// History).
inline constexpr std::size_t kNeededIncarnationsMax = 16;

// The stable segment of one incarnation, for readers. Null: it is not available.
struct IncarnationSegment {
  Incarnation incarnation{1};
  std::shared_ptr<const Segment> memory;
};
using IncarnationSegments = std::deque<IncarnationSegment>;  // of one replica, oldest first; the last is the newest

// Adds a starting incarnation's segment to those of the incarnations before it, oldest first, and drops segments that
// are not needed:
//  * the newest one, if it does not count: its incarnation died before it had stored what it inherits, so before it
//    sent any message (StableView::ended_before_inheriting). `counts` is the test for it.
//  * segments that are neither among the newest four nor `needed`; and the oldest needed one, if there are more than
//    kNeededIncarnationsMax. An ended incarnation's segment is also needed while the configuration names that
//    incarnation as acceptor, or if it led in this epoch. If the group has not changed that during so many later
//    incarnations, it is told that the segment is missing: it then waits and reports so, and concludes nothing from the
//    segment's absence (docs/agreement.md).
// So the newest segment that counts is always kept.
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

// Whether an ended incarnation's segment counts: the writer had stored what it inherits before it sent any message.
inline bool incarnation_counts(std::span<const std::byte> segment, Incarnation incarnation) {
  return incarnation == Incarnation(1) || !StableView::ended_before_inheriting(segment);
}

// Whether the segment's writer had voted for slots that a published snapshot of the slots below `published` does not
// cover.
inline bool holds_history(std::span<const std::byte> segment, Slot published) {
  return StableView::accepted_end_in(segment) > published;
}

}  // namespace ingot
