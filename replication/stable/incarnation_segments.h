// Which stable segments of a replica's earlier lives are kept: by the supervisor, and by every replica alike.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "core/types.h"
#include "replication/stable/view.h"
#include "transport/host/segment.h"

namespace ingot {

// Segments of ended lives that are kept, the newest ones. Each holds up to kStableSegmentBytes.
inline constexpr std::size_t kEarlierLivesMax = 4;
// The same with those whose votes are in no sealed snapshot yet: nobody else may have them (docs/agreement.md, History).
inline constexpr std::size_t kNeededLivesMax = 16;

// The stable segment of one life, as those see it who only read it. Null: it is not to be had.
struct LifeSegment {
  Incarnation incarnation{1};
  std::shared_ptr<const Segment> memory;
};
using LifeSegments = std::deque<LifeSegment>;  // of one replica, oldest first; the last is the newest life

// Adds the segment of a life that begins to those of the lives before it, oldest first, and drops what is not needed:
//  * the one before, if it does not count: it died before it had stored what it was to inherit, so before it said
//    anything to anybody (StableView::ended_before_inheriting). `counts` looks.
//  * those before the newest four that are not `needed`; the oldest that is, if there are far too many. An ended life's segment
//    is needed besides while the configuration names that life as acceptor, or it led in this epoch. A group that has not
//    managed to change that in so many later lives of it is told that the segment is missing: then it waits, and says so;
//    nothing is concluded from it (docs/agreement.md).
// So the newest one that counts is always there.
template <typename Life, typename Counts, typename Needed>
void add_life(std::deque<Life>& lives, Life next, Counts counts, Needed needed) {
  if (!lives.empty() && !counts(std::as_const(lives.back()))) lives.pop_back();
  for (std::size_t i = 0; i + kEarlierLivesMax < lives.size();) {
    if (needed(std::as_const(lives[i]))) ++i;
    else lives.erase(lives.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (lives.size() > kNeededLivesMax) lives.pop_front();
  lives.push_back(std::move(next));
}

// Of the agreement with that name: whether what was voted for was chosen, so that it is not inherited but read as history.
inline bool votes_are_history(std::string_view agreement) { return agreement == "1paxos"; }

// Whether an ended life's segment counts: its writer had stored what it was to inherit before it said anything.
inline bool life_counts(std::span<const std::byte> segment, Incarnation incarnation) {
  return incarnation == Incarnation(1) || !StableView::ended_before_inheriting(segment);
}

// Whether a sealed snapshot of the slots below `sealed` leaves out some that the segment's writer had voted for.
inline bool holds_history(std::span<const std::byte> segment, Slot sealed) {
  return StableView::accepted_end_in(segment) > sealed;
}

}  // namespace ingot
