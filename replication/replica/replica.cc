#include "replication/replica/replica.h"

#include <utility>

#include "core/check.h"
#include "core/planning/helper_cores.h"
#include "core/wire.h"
#include "replication/replica/snapshots/limits.h"
#include "transport/host/huge_pages.h"
#include "transport/limits.h"

namespace ingot::inline replication_replica {

namespace {

SnapshotLoader::How loads(const Replica::Snapshots& snapshots) {
  if (!snapshots.load_in_background) return SnapshotLoader::How::kInline;
  return snapshots.load_first_at_once ? SnapshotLoader::How::kFirstInline : SnapshotLoader::How::kBackground;
}

}  // namespace

Replica::Replica(Parts parts)
    : channels_(parts.channels),
      pages_(std::move(parts.pages)),
      replicas_(parts.protocol.group.replicas),
      deaths_(std::move(parts.deaths)),
      snapshots_(std::move(parts.snapshots)),
      operator_(std::move(parts.op)),
      stable_(*parts.stable),
      segments_(parts.protocol.group.self, std::exchange(deaths_.segments, {})),
      doubts_(deaths_.stops, replicas_,
              ReplicaIncarnation{parts.protocol.group.self, parts.protocol.group.incarnation}),
      outbox_(*channels_.transport),
      writer_(snapshots_.fork ? SnapshotWriter::How::kFork : SnapshotWriter::How::kInline, snapshots_.helper_cores),
      core_(core_parts(parts)),
      loader_(loads(snapshots_), core_.applier(), snapshots_.helper_cores) {
  poll_deaths();
  run();
  publish();
}

ReplicaCore::Parts Replica::core_parts(Parts& parts) {
  ReplicaCore::Parts core;
  core.protocol = std::move(parts.protocol);
  core.storage.state = parts.state;
  core.storage.stable = parts.stable;
  core.storage.keeps_snapshots = snapshots_.published_slot != nullptr && snapshots_.publish != nullptr;
  core.storage.snapshot = std::exchange(snapshots_.first, {});
  core.endpoints = channels_.endpoints;
  core.page = pages_.own;
  core.pages = pages_.all;
  core.incarnations = segments_.newest();
  core.bounds = parts.bounds;
  core.trees = std::move(parts.trees);
  core.fences = operator_.fence != nullptr;
  core.channel_ready = [this](EndpointId peer) { return !outbox_.waits_for(peer); };
  core.discard = [cores = snapshots_.helper_cores](std::shared_ptr<void> thing) {
    release_in_background(std::move(thing), cores);
  };
  return core;
}

// ---- A round -------------------------------------------------------------------------------------------------------

int Replica::poll(std::uint64_t now_ns) {
  if (worked_at_ns_ != 0) busy_ns_ += now_ns - worked_at_ns_;
  int work = channels_.transport->probe(
      [this](EndpointId from, std::span<const std::byte> message) {
        core_.receive(from, as_view(message));
        run();
      },
      kProbeMessagesMax);
  received_messages_ += static_cast<std::uint64_t>(work);
  work += poll_incarnations();
  const bool tick = core_.tick_due(now_ns);
  if (tick || deaths_reported() != deaths_seen_) poll_deaths();
  poll_doubts(now_ns);
  if (tick) writer_.tick();
  if (tick && writer_.running()) finish_snapshot();
  if (loader_.running()) finish_load();
  poll_keeper();
  flushed_ = 0;
  woke_ = false;
  core_.begin_round(now_ns, !outbox_.empty());
  run();
  if (!woke_) wake_receivers();
  work += flushed_ + core_.work();
  if (channels_.transport->parts_moved()) ++work;
  worked_at_ns_ = work > 0 ? now_ns : 0;
  if (work > 0 || core_.worked()) publish();
  if (!core_.round_was_idle() || fragments_wait_) {
    core_.set_ticking(core_.wants_tick() || !outbox_.empty() || fragments_wait_, now_ns);
  }
  return work;
}

bool Replica::readable() {
  return channels_.transport->readable() || deaths_reported() != deaths_seen_ || doubts_.news() ||
         (channels_.incarnations != nullptr && channels_.incarnations->waiting() && channels_.incarnations->readable());
}

void Replica::run() {
  while (const Action* action = core_.next()) {
    execute(*action);
    core_.done();
  }
}

// Invariant: a store never fails, since all that a leader proposes, and a new leader recovers, fits
// (Compaction::group_has_room, and the static_asserts beside it).
void Replica::execute(const Action& action) {
  switch (action.kind) {
    case Action::Kind::kStore:
      INGOT_CHECK(stable_.store(*action.write), "the stable store is full although the window is bounded");
      return;
    case Action::Kind::kSend:
      woke_ = false;
      if (action.shared != nullptr) return outbox_.send(action.to, *action.shared);
      return outbox_.send(action.to, action.message);
    case Action::Kind::kApply:
    case Action::Kind::kApplyOn:
    case Action::Kind::kInstallSnapshot:
      return;
    case Action::Kind::kFlush:
      flushed_ += outbox_.flush([this](EndpointId peer) { core_.channel_drained(peer); });
      return;
    case Action::Kind::kWake:
      return wake_receivers();
    case Action::Kind::kReadSegment:
      return read_segment(action);
    case Action::Kind::kReadHistory:
      return segments_.read_all(action.slot, [this](const StableView& view) { core_.history_read(view); });
    case Action::Kind::kWriteSnapshot:
      return write_snapshot();
    case Action::Kind::kPublishSnapshot:
      return snapshots_.publish(action.slot, newest_->fd.get());
    case Action::Kind::kLoadSnapshot:
      loader_.start(*action.snapshot);
      return finish_load();
    case Action::Kind::kFence:
      return fence(action.incarnation);
    case Action::Kind::kLog:
      if (operator_.log) operator_.log(std::string(action.line));
      return;
  }
}

// To be called in each round: it also wakes senders that wait for this replica to read on.
void Replica::wake_receivers() {
  fragments_wait_ = channels_.transport->flush();
  woke_ = true;
}

// ---- Peers ---------------------------------------------------------------------------------------------------------

// Acquire: pairs with the release of the counters' writers. A death that is reported after the load is found in a later
// round.
std::uint64_t Replica::deaths_reported() const {
  std::uint64_t deaths = 0;
  for (const Counter* counter : {deaths_.reported, deaths_.marks}) {
    if (counter != nullptr) deaths += counter->get_acquire();
  }
  return deaths;
}

void Replica::poll_deaths() {
  deaths_seen_ = deaths_reported();
  segments_.poll([this](ReplicaIncarnation name) { peer_died(name); });
}

// An entry of another incarnation is left out: an earlier one is dead, and a later one will be connected. The core is
// told again and again for a while; the counter and the core count each stop once.
void Replica::poll_doubts(std::uint64_t now_ns) {
  const auto stopped = [this](ReplicaIncarnation name) {
    if (!segments_.takes_part(name)) return;
    if (!doubted_.contains(name.id)) (*pages_.own)[ReplicaCounter::kDoubts].add(1);
    doubted_.insert(name.id);
    core_.peer_stopped(name);
  };
  const auto continued = [this](ReplicaIncarnation name) {
    doubted_.erase(name.id);
    if (segments_.takes_part(name)) core_.peer_continued(name);
  };
  doubts_.poll(now_ns, stopped, continued);
}

// Messages of the dead peer may still be in its channel; they are handled when they arrive.
void Replica::peer_died(ReplicaIncarnation name) {
  if (channels_.incarnations != nullptr) {
    channels_.incarnations->gone(name.id);
  } else {
    channels_.transport->peer_gone(name.id);
  }
  outbox_.forget(name.id);
  core_.peer_died(name);
}

void Replica::begin_incarnation(PeerIncarnation announced, std::shared_ptr<const Segment> stable) {
  INGOT_CHECK(channels_.incarnations != nullptr, "a channel to a new incarnation needs PeerIncarnations");
  const ReplicaIncarnation name{announced.endpoint, announced.incarnation};
  if (!channels_.incarnations->announce(std::move(announced))) return;
  if (name.id.value() < replicas_) {
    note_ended(name, std::move(stable));  // as far as its segment is concerned
  } else {
    outbox_.forget(name.id);
  }
}

void Replica::note_ended(ReplicaIncarnation ended, std::shared_ptr<const Segment> stable) {
  poll_deaths();
  segments_.begin(ended, std::move(stable), [this](ReplicaIncarnation dead) { peer_died(dead); });
}

// The last process that unmaps a segment frees its memory, which takes milliseconds.
void Replica::keep_segments(EndpointId replica, std::span<const Incarnation> kept) {
  auto dropped = std::make_shared<std::vector<IncarnationSegment>>(segments_.keep(replica, kept));
  if (!dropped->empty()) release_in_background(std::move(dropped), snapshots_.helper_cores);
}

// Acquire: what the replica trims from now on, or takes for released, is in the snapshot that the supervisor keeps.
Slot Replica::published() const {
  return Slot(snapshots_.published_slot != nullptr ? snapshots_.published_slot->get_acquire() : 0);
}

void Replica::poll_keeper() {
  core_.snapshot_published(published());
  if (snapshots_.kept_segments_state == nullptr) return;
  core_.kept_segments(static_cast<KeptSegments>(snapshots_.kept_segments_state->get()));
}

// Handles channels that have switched to another incarnation. For a client only its backlog is opened again: requests
// carry the client's own numbers, so the replica has no other state of it.
int Replica::poll_incarnations() {
  if (channels_.incarnations == nullptr || !channels_.incarnations->waiting()) return 0;
  return channels_.incarnations->poll([this](EndpointId peer, Incarnation incarnation) {
    outbox_.revive(peer);
    if (peer.value() >= replicas_) return;
    segments_.connected({peer, incarnation});
    core_.peer_connected({peer, incarnation});
    poll_deaths();  // the new incarnation may be dead already
  });
}

void Replica::read_segment(const Action& action) {
  const auto view = segments_.read(action.incarnation, published(), action.slot);
  if (absl::IsFailedPrecondition(view.status())) return;  // the writer is not known to be dead
  core_.segment_read(action.incarnation, view.ok() ? &*view : nullptr);
}

void Replica::fence(ReplicaIncarnation name) {
  core_.fenced(name, operator_.fence(name));
}

// ---- Snapshots -----------------------------------------------------------------------------------------------------

void Replica::write_snapshot() {
  if (!writer_.start(core_.applier()).ok()) return core_.snapshot_failed();
  pauses_ns_ += writer_.pause_ns();
  if (!snapshots_.fork) finish_snapshot();
}

void Replica::finish_snapshot() {
  auto outcome = writer_.poll();
  if (!outcome) return;
  if (!outcome->ok()) return core_.snapshot_failed();
  newest_ = **std::move(outcome);
  core_.snapshot_written(std::make_shared<const SnapshotServer::File>(
      SnapshotServer::File{newest_->name, as_view(newest_->memory.bytes()), newest_}));
}

void Replica::finish_load() {
  if (auto outcome = loader_.poll()) core_.snapshot_decoded(*std::move(outcome));
}

// ---- Pages ---------------------------------------------------------------------------------------------------------

void Replica::publish() {
  // By the size of the state: a leader, for example, makes no snapshots while others do, and does after the next death.
  if (core_.applier().save_bytes() >= kHugePagesFromBytes) allow_huge_pages();
  ReplicaPage& page = *pages_.own;
  page[ReplicaCounter::kBacklogDrops].set(outbox_.dropped_messages() + core_.dropped_answers());
  page[ReplicaCounter::kBacklogBytes].set(outbox_.waiting_bytes());
  page[ReplicaCounter::kHandledMessages].set(received_messages_ + outbox_.sent_messages());
  page[ReplicaCounter::kBusyNs].set(busy_ns_);
  page[ReplicaCounter::kSnapshotPauseNs].set(pauses_ns_);
  // Of a slot that is applied in part nothing is shown.
  if (pages_.publish_state && !core_.applier().under_way()) pages_.publish_state(page);
  core_.publish();
}

}  // namespace ingot::replication_replica
