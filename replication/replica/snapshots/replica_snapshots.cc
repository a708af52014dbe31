#include "replication/replica/snapshots/replica_snapshots.h"

#include <algorithm>
#include <utility>

#include "replication/replica/snapshots/limits.h"

namespace ingot::inline replication_replica_snapshots {

ReplicaSnapshots::ReplicaSnapshots(Options options, const Applier& applier, const PeerStates& peers, ActionQueue& queue)
    : options_(std::move(options)),
      applier_(applier),
      peers_(peers),
      queue_(queue),
      send_([this](EndpointId to, std::string message) {
        queue_.send(to, SharedMessage(std::make_shared<const std::string>(std::move(message))));
      }),
      reader_(options_.group.incarnation, [this](ReceivedFile file) { discard(std::move(file)); }, options_.bounds),
      server_(options_.bounds),
      log_(options_.bounds.log_step_bytes) {}

void ReplicaSnapshots::discard(ReceivedFile file) {
  if (options_.discard && file.size() > kSnapshotWindowBytes) {
    options_.discard(std::make_shared<ReceivedFile>(std::move(file)));
  }
}

void ReplicaSnapshots::applied(Slot slot, std::size_t record_bytes) {
  if (!kept()) return;
  log_.add(slot.next(), record_bytes);
  quiet_ticks_ = 0;
}

// An urgent snapshot is put off again: the delay depends on the size of the state, which has only now come.
void ReplicaSnapshots::installed() {
  log_.cut(applier_.applied());
  if (kept() && !urgent_done()) put_off_urgent();
}

void ReplicaSnapshots::note_published(Slot below) {
  if (below <= published_) return;
  published_ = below;
  overdue_ticks_ = 0;
}

// ---- Fetching a snapshot --------------------------------------------------------------------------------------------

// Leader and acceptor are the busiest replicas, so they are asked last.
void ReplicaSnapshots::needed(const AgreementStatus& status) {
  std::vector<EndpointId> peers;
  for (int id = options_.group.replicas - 1; id >= 0; --id) {
    const EndpointId peer(static_cast<std::uint16_t>(id));
    if (peer != options_.group.self && !peers_.lagging(peer)) peers.push_back(peer);
  }
  const auto busy = [&](EndpointId peer) { return peer == status.leader || peer == status.acceptor; };
  std::stable_partition(peers.begin(), peers.end(), [&](EndpointId peer) { return !busy(peer); });
  if (!reader_.complete()) reader_.start(applier_.applied(), std::move(peers), send_);
}

void ReplicaSnapshots::receive(EndpointId from, std::string_view bytes) {
  const auto message = decode_snapshot_message(bytes);
  if (!message || from.value() >= options_.group.replicas) {
    ++refused_;
  } else if (message->type == SnapshotMessageType::kAsk) {
    const std::uint64_t applied = applier_.applied().value();
    const Slot useful_from(applied > options_.bounds.useful_slots ? applied - options_.bounds.useful_slots : 0);
    server_.receive(from, *message, applier_.applied(), useful_from, send_);
  } else {
    reader_.receive(from, *message, send_);
  }
}

void ReplicaSnapshots::peer_gone(EndpointId peer) {
  reader_.peer_gone(peer, send_);
  server_.peer_gone(peer);
}

// A received file is installed only when a snapshot at least as new is published. After the installation this replica
// cannot tell its peers the commands below the file's slot, so a snapshot of them must outlive all replicas
// (docs/agreement.md).
std::optional<ReceivedFile> ReplicaSnapshots::take_received() {
  if (!reader_.complete()) return std::nullopt;
  if (overtaken()) {
    reader_.give_up();
    return std::nullopt;
  }
  if (kept() && published() < reader_.name().slot) return std::nullopt;
  unpublished_ticks_ = 0;
  return reader_.take();
}

// ---- Making a snapshot ----------------------------------------------------------------------------------------------

int ReplicaSnapshots::poll(const AgreementStatus& status, bool may_begin) {
  note_epoch(status);
  if (kept()) log_.cut(published());
  int done = 0;
  if (may_begin && !writing_ && due(status)) {
    begin();
    ++done;
  }
  return done + server_.send_parts(options_.ready, send_);
}

// A new epoch makes a snapshot urgent: earlier decisions now lie only in segments of former acceptors, which are kept
// until a published snapshot holds those decisions.
void ReplicaSnapshots::note_epoch(const AgreementStatus& status) {
  if (status.epoch == epoch_) return;
  epoch_ = status.epoch;
  urgent_below_ = std::max(applier_.applied(), status.proposed);
  if (urgent_ticks_ == 0) put_off_urgent();  // a delay that runs is not begun again by further changes
}

int ReplicaSnapshots::delay_ticks() const {
  return options_.bounds.after_change_ticks + static_cast<int>(applier_.save_bytes() / kSnapshotBytesPerTick);
}

void ReplicaSnapshots::put_off_urgent() { urgent_ticks_ = delay_ticks(); }

// A snapshot helps only once the urgent slots are applied here.
bool ReplicaSnapshots::urgent() const {
  return !urgent_done() && urgent_ticks_ == 0 && urgent_below_ <= applier_.applied();
}

bool ReplicaSnapshots::due(const AgreementStatus& status) {
  if (server_.wanted()) return true;
  if (!kept()) return false;
  const bool wanted = new_bytes() > 0 && new_bytes() >= threshold(status);
  held_back_ = wanted && waits_for_publication();
  return wanted && !held_back_;
}

// Bytes of new log that make a snapshot due: as many as the state has, within bounds; fewer when segments fill, and 1
// when the fullest stops proposals, a change of the epoch has made a snapshot urgent, a client wishes for one, or too
// many segments are kept. More when it is not this replica's turn.
std::size_t ReplicaSnapshots::threshold(const AgreementStatus& status) const {
  const std::size_t most = options_.segment_bytes / kSnapshotSegmentParts;
  const std::size_t least = std::min(options_.bounds.log_bytes_min, most);
  std::size_t bytes = std::clamp(applier_.save_bytes(), least, most);
  const std::uint64_t fullest = fullest_segment_bytes(status);
  if (fullest > options_.segment_bytes / (2 * kProposeBelowParts)) bytes = least;
  if (hurries() || fullest > options_.segment_bytes / kProposeBelowParts) bytes = 1;
  const int before = std::max(turn(status) - turns_passed(), 0);
  return bytes + static_cast<std::size_t>(before) * (options_.segment_bytes / kSnapshotTurnParts);
}

// How many replicas have let their turn pass: the log may be too short to show that they are stopped, or that their
// snapshots fail.
int ReplicaSnapshots::turns_passed() const { return overdue_ticks_ / std::max(delay_ticks(), 1); }

std::uint64_t ReplicaSnapshots::fullest_segment_bytes(const AgreementStatus& status) const {
  std::uint64_t fullest = 0;
  for (std::uint16_t id = 0; id < options_.group.voters && id < peers_.pages(); ++id) {
    if (peers_.lagging(EndpointId(id)) && EndpointId(id) != status.acceptor) continue;
    fullest = std::max(fullest, peers_.stable_used_bytes(EndpointId(id)));
  }
  return fullest;
}

// How many of the living voters make snapshots before this replica does.
int ReplicaSnapshots::turn(const AgreementStatus& status) const {
  int before = 0;
  for (std::uint16_t id = 0; id < options_.group.voters; ++id) {
    const EndpointId other(id);
    if (other != options_.group.self && !peers_.lagging(other) && better_maker(other, status)) ++before;
  }
  return before;
}

// The order of turns: voters that neither lead nor accept, the acceptor, the leader, then learners that do not vote. Of
// equals the highest id comes first.
bool ReplicaSnapshots::better_maker(EndpointId other, const AgreementStatus& status) const {
  const auto rank = [&](EndpointId id) {
    if (id.value() >= options_.group.voters) return 3;
    return id == status.leader ? 2 : id == status.acceptor ? 1 : 0;
  };
  const int mine = rank(options_.group.self), theirs = rank(other);
  return theirs != mine ? theirs < mine : other > options_.group.self;
}

void ReplicaSnapshots::begin() {
  begun_ = applier_.applied();
  retry_ticks_ = 0;
  writing_ = true;
  queue_.order({.kind = Action::Kind::kWriteSnapshot, .slot = begun_});
}

void ReplicaSnapshots::failed() {
  writing_ = false;
  server_.none(send_);
}

void ReplicaSnapshots::written(std::shared_ptr<const SnapshotServer::File> file) {
  writing_ = false;
  ++made_;
  auto older = std::exchange(newest_, std::move(file));
  if (kept()) order_publication();
  server_.offer(newest_, send_);
  if (older != nullptr && options_.discard) {
    options_.discard(std::make_shared<std::shared_ptr<const SnapshotServer::File>>(std::move(older)));
  }
}

void ReplicaSnapshots::order_publication() {
  queue_.order({.kind = Action::Kind::kPublishSnapshot, .slot = newest_->name.slot, .file = newest_});
}

// ---- Time -----------------------------------------------------------------------------------------------------------

void ReplicaSnapshots::tick() {
  if (reader_.active() && overtaken()) reader_.give_up();
  reader_.tick(send_);
  server_.tick(send_);
  ++quiet_ticks_;
  if (urgent_ticks_ > 0) --urgent_ticks_;
  overdue_ticks_ = kept() && hurries() && new_bytes() > 0 ? overdue_ticks_ + 1 : 0;
  if (kept() && waits_for_publication() && !writing_ && ++retry_ticks_ >= options_.bounds.silent_ticks) {
    retry_ticks_ = 0;
    if (newest_ != nullptr && newest_->name.slot > published()) order_publication();
    else begun_ = Slot(0);  // it could not be made: another begins when it is due
  }
  if (reader_.complete() && ++unpublished_ticks_ >= options_.bounds.silent_ticks) {
    unpublished_ticks_ = 0;
    reader_.give_up();
  }
}

// Peers' command logs have meanwhile brought all that the file being read holds.
bool ReplicaSnapshots::overtaken() const {
  const SnapshotName name = reader_.name();
  return name.bytes > 0 && name.slot <= applier_.applied();
}

// True also for a while after the last applied slot: a segment of another replica may be full.
bool ReplicaSnapshots::wants_tick() const {
  if (writing_ || reader_.active() || reader_.complete() || server_.serves()) return true;
  if (!kept()) return false;
  if (waits_for_publication() || held_back_) return true;
  return new_bytes() > 0 && (urgent_ticks_ > 0 || hurries() || quiet_ticks_ < options_.bounds.quiet_ticks);
}

}  // namespace ingot::replication_replica_snapshots
