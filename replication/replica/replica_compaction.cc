// A replica's room: what is trimmed and when, who waits until there is some, and how it starts from a snapshot, or goes on
// from one, where logs do not reach back.
#include <algorithm>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/planning/helper_cores.h"
#include "core/wire.h"
#include "replication/agreement/messages.h"
#include "replication/replica/replica.h"
#include "replication/replica/snapshots/limits.h"
#include "replication/stable/layout.h"

namespace ingot {

// ---- Snapshots -------------------------------------------------------------------------------------------------------

ReplicaSnapshots::Options Replica::snapshot_options() {
  ReplicaSnapshots::Options options;
  options.self = parts_.group.self;
  options.incarnation = parts_.group.incarnation;
  options.replicas = parts_.group.replicas;
  options.voters = parts_.group.voters;
  options.segment_bytes = parts_.stable->capacity_bytes();
  options.how = parts_.fork_snapshots ? SnapshotWriter::How::kFork : SnapshotWriter::How::kInline;
  options.helper_cores = parts_.helper_cores;
  options.published_slot = parts_.published_slot;
  options.publish = parts_.publish;
  options.pages = parts_.pages;
  options.lagging = [this](EndpointId peer) { return peers_.lagging(peer); };
  options.ready = [this](EndpointId peer) { return !outbox_.waits_for(peer); };
  options.send = [this](EndpointId peer, std::string message) {
    outbox_.send(peer, std::make_shared<const std::string>(std::move(message)));
  };
  return options;
}

// While one is being loaded none is made, for it would soon be old, nor is another one taken.
int Replica::poll_snapshots() {
  int work = finish_load() ? 1 : 0;
  work += snapshots_.poll(parts_.agreement->status(), !loader_.running());
  if (auto file = loader_.running() ? std::nullopt : snapshots_.take_received()) {
    const auto memory = std::make_shared<const ReceivedFile>(*std::move(file));
    load({memory->bytes(), memory});
    ++work;
  }
  execute_effects();
  return work;
}

void Replica::load(SnapshotBytes snapshot) {
  parts_.agreement->loading(true);
  loader_.start(std::move(snapshot));
  finish_load();
}

// Returns whether a load has ended.
bool Replica::finish_load() {
  auto outcome = loader_.running() ? loader_.poll() : std::nullopt;
  if (!outcome) return false;
  begins_ = false;
  parts_.agreement->loading(false);
  if (!outcome->ok()) {
    ++refused_snapshots_;  // peers may have another one
  } else if ((*outcome)->applied > applier_.applied()) {
    install(**std::move(outcome));
  } else {  // as much was applied meanwhile
    release_in_background(**std::move(outcome), parts_.helper_cores);
  }
  return true;
}

// Which of the commands on their way are in the snapshot nobody knows: they are taken again if they come again.
void Replica::install(Applier::Decoded snapshot) {
  std::move(snapshot.load)();
  batcher_.forget_proposals();
  while (!window_.empty() && window_.front().first < applier_.applied()) {
    window_bytes_ -= window_.front().second;
    window_.pop_front();
  }
  parts_.agreement->installed(applier_.applied(), effects_);
  snapshots_.installed();
  release_in_background(std::move(snapshot), parts_.helper_cores);  // by now it holds the former state
  after_apply();
}

// With Multi-Paxos a new leader stores a second time what it has inherited, before anything of it is trimmed.
static_assert(2 * (stable_ring_bytes(kStableSegmentBytes) / kProposeBelowParts + kProposalWindowBytesMax + kBatchBytesMax) <
                  stable_ring_bytes(kStableSegmentBytes),
              "what a leader has, and recovers, fits twice");

// ---- Room ------------------------------------------------------------------------------------------------------------

// Whatever a leader may still have to store without having proposed it fits into the rest: above all what it recovers
// when it takes over, which voters then store a second time. Those count whose storing commits what is proposed: the
// acceptor, or a majority. A stopped voter's page says what it last used, for ever: it must not stop the others. What is
// under way to them is at most a window.
bool Replica::segments_have_room() const {
  const std::size_t most = parts_.stable->capacity_bytes() / kProposeBelowParts;
  if (parts_.stable->used_bytes() > most) return false;
  const auto has_room = [&](EndpointId voter) {
    return (*parts_.pages[voter.value()])[ReplicaCounter::kStableUsedBytes].get() <= most;
  };
  const EndpointId acceptor = parts_.agreement->status().acceptor;
  if (acceptor != parts_.group.self) {
    // One that is away for it still loads its state accepts all the same.
    return acceptor.value() >= parts_.pages.size() || peers_.dead(acceptor) || has_room(acceptor);
  }
  int ready = 1;  // this one
  for (std::uint16_t id = 0; id < parts_.group.voters && id < parts_.pages.size(); ++id) {
    const EndpointId voter(id);
    if (voter != parts_.group.self && (peers_.lagging(voter) || has_room(voter))) ++ready;
  }
  return 2 * ready > parts_.group.voters;
}

// Ticks make sure that a leader that waits for room sees it, that a full segment is trimmed though nothing is proposed
// any more, and that a snapshot is put in place when it is decoded.
bool Replica::snapshots_wait() const {
  if (snapshots_.wants_tick() || loader_.running()) return true;
  const std::size_t used = parts_.stable->used_bytes();
  if (snapshots_.kept() && used > parts_.stable->capacity_bytes() / (2 * kProposeBelowParts)) return true;
  return !batcher_.empty() && parts_.agreement->can_propose() && !segments_have_room();
}

// A message that would have something stored is as good as lost if there is no room for it: its sender says it again.
void Replica::receive_agreement(EndpointId from, std::string_view message) {
  if (!has_room_for(message)) {
    ++deferred_messages_;
    return;
  }
  parts_.agreement->receive(from, message, effects_);
}

bool Replica::has_room_for(std::string_view message) {
  constexpr std::size_t kTypeOffset = 2;
  if (message.size() <= kTypeOffset) return true;
  const auto type = static_cast<MessageType>(message[kTypeOffset]);
  if (type != MessageType::kAccept && type != MessageType::kTwoPhasePrepare) return true;
  // Records do not wrap, so one may waste as much as it takes; the outcomes of a window come without a command.
  const std::size_t needed = 2 * stable_record_bytes(message.size()) + 2 * kWindowSlots * stable_record_bytes(0);
  const auto fits = [&] { return parts_.stable->used_bytes() + needed <= parts_.stable->capacity_bytes(); };
  if (!fits()) parts_.stable->make_room();
  return fits();
}

// Entries are trimmed once every living voter has applied them and a published snapshot holds them. If the segment
// fills, because a voter is stopped, two replicas are enough: leader and acceptor apply as they go, and the stopped one
// gets a snapshot when it wakes. Who is dead counts for nothing. What is lost if all die where nobody keeps snapshots
// is in docs/design/stable-storage.md.
void Replica::compact() {
  const auto fuller = [&] { return parts_.stable->used_bytes() > parts_.stable->capacity_bytes() / (2 * kProposeBelowParts); };
  if (fuller()) parts_.stable->make_room();
  const bool pressed = fuller();
  const Slot applied = applier_.applied();
  if (!pressed && applied < next_trim_) return;
  next_trim_ = applied.plus(kTrimSlots);
  const Slot keep_from = trim_point(pressed);
  if (keep_from <= trimmed_) return;
  trimmed_ = keep_from;
  parts_.agreement->compact(keep_from, effects_);
  execute_effects();
}

// Slots below it need no entries, as far as replicas and snapshots are concerned that outlive this one.
Slot Replica::trim_point(bool pressed) const {
  const Slot known = known_to_enough(pressed);
  return snapshots_.kept() ? std::min(known, snapshots_.published()) : known;
}

Slot Replica::known_to_enough(bool pressed) const {
  std::vector<std::uint64_t> applied;  // by the living, voters first
  std::size_t voters = 0;
  for (std::uint16_t id = 0; id < parts_.pages.size(); ++id) {
    if (peers_.lagging(EndpointId(id))) continue;
    const bool self = EndpointId(id) == parts_.group.self;
    applied.push_back(self ? applier_.applied().value() : (*parts_.pages[id])[ReplicaCounter::kAppliedSlots].get());
    if (id < parts_.group.voters) ++voters;
  }
  if (voters == 0) return trimmed_;
  if (!pressed) return Slot(*std::min_element(applied.begin(), applied.begin() + static_cast<std::ptrdiff_t>(voters)));
  std::sort(applied.rbegin(), applied.rend());
  const std::uint64_t held_twice = applied.size() > 1 ? applied[1] : applied[0];
  return Slot(std::min(held_twice, applier_.applied().value()));
}

}  // namespace ingot
