#include "replication/replica/compaction.h"

#include <algorithm>
#include <vector>

#include "core/rule.h"
#include "replication/agreement/limits.h"
#include "replication/replica/limits.h"
#include "replication/replica/snapshots/limits.h"
#include "replication/requests/limits.h"
#include "replication/stable/layout.h"
#include "replication/stable/limits.h"

namespace ingot::inline replication_replica {

// With Multi-Paxos a new leader stores a second time what it has inherited, before anything of it is trimmed.
static_assert(2 * (stable_ring_bytes(kStableSegmentBytes) / kProposeBelowParts + kProposalWindowBytesMax +
                   kBatchBytesMax) < stable_ring_bytes(kStableSegmentBytes),
              "what a leader has, and recovers, fits twice");
static_assert(stable_ring_bytes(kStableSegmentBytes) / kTakeoverParts >
                  kInFlightBytesMax + kRepeatBytesMax + 2 * stable_record_bytes(kBatchBytesMax) +
                      kWindowSlots * stable_record_bytes(0),
              "what a takeover stores fits, wherever the ring ends");
static_assert(stable_ring_bytes(kStableSegmentBytes) / 2 >
                  2 * kWindowBytesMax + 4 * stable_record_bytes(kBatchBytesMax) +
                      2 * kWindowSlots * stable_record_bytes(0),
              "above half, where trimming starts to press, two windows and the largest batches fit");

// A message without room is treated as lost: its sender repeats it. The last part of the store is left to what cannot
// be repeated: what a new leader stores before it leads.
bool Compaction::has_room_for(std::size_t bytes) {
  const std::size_t most = stable_.capacity_bytes() - stable_.capacity_bytes() / kTakeoverParts;
  const auto fits = [&] { return stable_.used_bytes() + bytes <= most; };
  if (bytes == 0 || fits()) return true;
  stable_.make_room();
  if (!fits()) stable_.clean();
  return fits();
}

// A leader proposes only while segments have room to spare. The rest is for what a leader stores without proposing it,
// above all what it recovers when it takes over, which voters then store a second time. Only the voters count whose
// storing commits a slot: the acceptor, or a majority. The page of a stopped voter keeps showing its last use, which
// must not stop the others. At most a proposal window is on its way to the voters.
bool Compaction::group_has_room() const {
  const PeerStates& peers = context_.peers;
  const std::size_t most = propose_below_bytes();
  if (segments_full_ || stable_.used_bytes() > most) return false;
  const auto has_room = [&](EndpointId voter) { return peers.stable_used_bytes(voter) <= most; };
  const EndpointId acceptor = context_.agreement.acceptor();
  if (!context_.is_self(acceptor)) {
    // An acceptor that lags because it still loads its state accepts all the same.
    return acceptor.value() >= peers.pages() || peers.dead(acceptor) || has_room(acceptor);
  }
  int ready = 1;  // this replica
  for (std::uint16_t id = 0; id < context_.group.voters && id < peers.pages(); ++id) {
    const EndpointId voter(id);
    if (!context_.is_self(voter) && (peers.lagging(voter) || has_room(voter))) ++ready;
  }
  return 2 * ready > context_.group.voters;
}

bool Compaction::is_pressed() const {
  return stable_.used_bytes() > stable_.capacity_bytes() / (2 * kProposeBelowParts);
}

// Entries are trimmed once every living voter has applied them and a published snapshot holds them. If the store fills,
// because a voter is stopped, two replicas are enough: leader and acceptor apply as they go, and the stopped one gets a
// snapshot when it wakes. Dead replicas do not count. docs/design/stable-storage.md says what is lost if all replicas
// die and no snapshots are kept.
void Compaction::compact() {
  if (is_pressed()) stable_.make_room();
  if (stable_.used_bytes() > propose_below_bytes()) stable_.clean();
  const bool pressed = is_pressed();
  const Slot applied = context_.applier.applied();
  if (!pressed && applied < next_trim_) return;
  next_trim_ = applied.plus(static_cast<std::uint64_t>(bounds_.trim_slots));
  const Slot keep_from = trim_point(pressed);
  if (keep_from <= trimmed_) return;
  trimmed_ = keep_from;
  context_.agreement.compact(keep_from, context_.effects);
}

// Slots below it may be trimmed: enough replicas have applied them, and the published snapshot, if one is kept, holds
// them.
Slot Compaction::trim_point(bool pressed) const {
  const Slot known = known_to_enough(pressed);
  const bool bounded = snapshots_.kept() && INGOT_RULE("trim-below-snapshot");
  return bounded ? std::min(known, snapshots_.published()) : known;
}

Slot Compaction::known_to_enough(bool pressed) const {
  const PeerStates& peers = context_.peers;
  const Slot applied_here = context_.applier.applied();
  std::vector<Slot> applied;  // by the replicas that do not lag, voters first
  std::size_t voters = 0;
  for (std::uint16_t id = 0; id < peers.pages(); ++id) {
    const EndpointId replica(id);
    if (peers.lagging(replica)) continue;
    applied.push_back(context_.is_self(replica) ? applied_here : peers.applied(replica));
    if (id < context_.group.voters) ++voters;
  }
  if (voters == 0) return trimmed_;
  if (!pressed) return *std::min_element(applied.begin(), applied.begin() + static_cast<std::ptrdiff_t>(voters));
  std::sort(applied.rbegin(), applied.rend());
  const Slot held_twice = applied.size() > 1 ? applied[1] : applied[0];
  return std::min(held_twice, applied_here);
}

}  // namespace ingot::replication_replica
