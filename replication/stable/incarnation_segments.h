// Which stable segments of a replica's earlier incarnations are kept. The supervisor decides it, tells the processes,
// and says so where it has released one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/types.h"
#include "replication/stable/view.h"
#include "transport/host/segment.h"

namespace ingot::inline replication_stable {

// The stable segment of one incarnation, for readers. Null: its content is unknown here.
struct IncarnationSegment {
  Incarnation incarnation{1};
  std::shared_ptr<const Segment> memory;
};
// Of one replica, oldest first; the last is the newest. An earlier incarnation that is not among them was released, or
// had ended before it said anything (add_incarnation): all that it voted for is in a published snapshot.
using IncarnationSegments = std::deque<IncarnationSegment>;

// The newest two of each replica are always kept: the present incarnation, and the one whose votes it inherits.
inline constexpr std::size_t kNewestIncarnationsKept = 2;

// Adds a starting incarnation's segment to those of the incarnations before it. Drops the newest of these if it does
// not count: its incarnation died before it had stored what it inherits, so before it sent any message
// (StableView::ended_before_inheriting). `counts` is the test for it.
template <typename Entry, typename Counts>
void add_incarnation(std::deque<Entry>& segments, Entry next, Counts counts) {
  if (!segments.empty() && !counts(std::as_const(segments.back()))) segments.pop_back();
  segments.push_back(std::move(next));
}

// Whether an ended incarnation's segment counts: the writer had stored what it inherits before it sent any message.
inline bool incarnation_counts(std::span<const std::byte> segment, Incarnation incarnation) {
  return incarnation == Incarnation(1) || !StableView::ended_before_inheriting(segment);
}

// Whether a segment holds votes that are history, and no published snapshot holds them: the slots below `published` are
// in one.
inline bool waits_for_snapshot(const std::optional<StableExtent>& extent, Slot published) {
  return extent && extent->accepted_end > published;
}

// Whether a segment must be kept. It waits for a snapshot, or it is of the last leader that has completed its takeover,
// where a walk-back through former leaders ends (docs/agreement.md). An unreadable segment is needed.
inline bool is_needed(const std::optional<StableExtent>& extent, Slot published, Ballot newest_leader) {
  if (!extent || waits_for_snapshot(extent, published)) return true;
  return extent->leader_ballot > Ballot(0) && extent->leader_ballot == newest_leader;
}

// Takes all segments that are not needed out of those of a group, `replicas`, and returns them. `extent` reads an
// entry. Never releases one of the newest two. What the caller must see to: readers get StableView::released() for a
// released one, with `published` or a later published slot.
template <typename Entry, typename Extent>
std::vector<Entry> release_segments(std::span<std::deque<Entry>> replicas, Slot published, Extent extent) {
  Ballot newest_leader(0);
  for (const std::deque<Entry>& segments : replicas) {
    for (const Entry& each : segments) {
      if (const std::optional<StableExtent> read = extent(each)) {
        newest_leader = std::max(newest_leader, read->leader_ballot);
      }
    }
  }
  std::vector<Entry> released;
  for (std::deque<Entry>& segments : replicas) {
    for (std::size_t i = 0; i + kNewestIncarnationsKept < segments.size();) {
      if (is_needed(extent(std::as_const(segments[i])), published, newest_leader)) {
        ++i;
        continue;
      }
      released.push_back(std::move(segments[i]));
      segments.erase(segments.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return released;
}

// Calls visit(entry) for each segment of `replicas` that a published snapshot of more slots would release, for certain:
// every vote was chosen, so it will be applied and be part of a snapshot. Not for one of the newest two.
template <typename Entry, typename Extent, typename Visit>
void for_each_waiting(std::span<const std::deque<Entry>> replicas, Slot published, Extent extent, Visit visit) {
  for (const std::deque<Entry>& segments : replicas) {
    for (std::size_t i = 0; i + kNewestIncarnationsKept < segments.size(); ++i) {
      if (waits_for_snapshot(extent(segments[i]), published)) visit(segments[i]);
    }
  }
}

// Makes one replica's segments agree with the list that the supervisor keeps: drops earlier ones that are not in it,
// and adds `unknown(incarnation)` for those that are in it and not here. `kept` ascends. The newest one here stays, and
// incarnations in the list that are not older are left out. Returns the dropped ones.
template <typename Entry, typename Unknown>
std::vector<Entry> keep_listed(std::deque<Entry>& segments, std::span<const Incarnation> kept, Unknown unknown) {
  std::vector<Entry> dropped;
  std::deque<Entry> listed;
  const Incarnation newest(segments.back().incarnation);
  auto here = segments.begin();
  const auto last = segments.end() - 1;
  for (const Incarnation incarnation : kept) {
    if (incarnation >= newest) break;
    for (; here != last && Incarnation(here->incarnation) < incarnation; ++here) dropped.push_back(std::move(*here));
    if (here != last && Incarnation(here->incarnation) == incarnation)
      listed.push_back(std::move(*here++));
    else
      listed.push_back(unknown(incarnation));
  }
  for (; here != last; ++here) dropped.push_back(std::move(*here));
  listed.push_back(std::move(*last));
  segments = std::move(listed);
  return dropped;
}

}  // namespace ingot::replication_stable
