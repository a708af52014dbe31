// A replica's part in snapshots: makes them so that logs can be trimmed, hands them to their keeper (the supervisor),
// sends them to peers, and fetches one when this replica is too far behind.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "core/types.h"
#include "replication/agreement/agreement.h"
#include "replication/replica/action_queue.h"
#include "replication/replica/applier.h"
#include "replication/replica/peer_states.h"
#include "replication/replica/snapshots/log_meter.h"
#include "replication/replica/snapshots/transfer.h"

namespace ingot::inline replication_replica_snapshots {

// Not thread-safe; used by its replica's loop only.
class ReplicaSnapshots {
 public:
  struct Options {
    GroupConfig group;
    SnapshotBounds bounds{};
    std::size_t segment_bytes = 0;  // a stable store's room for records
    // A keeper holds snapshots and outlives all replicas, so entries that a published snapshot covers may be trimmed.
    // False: there is no keeper, and trimming depends on the living replicas alone.
    bool kept = false;
    std::function<bool(EndpointId)> ready;                   // the channel to the peer has room
    // Takes large objects that are no longer needed, to destroy them elsewhere; none: they are destroyed in place.
    std::function<void(std::shared_ptr<void>)> discard{};
  };

  // REQUIRES: `applier`, `peers` and `queue` outlive this.
  ReplicaSnapshots(Options options, const Applier& applier, const PeerStates& peers, ActionQueue& queue);
  ReplicaSnapshots(const ReplicaSnapshots&) = delete;
  ReplicaSnapshots& operator=(const ReplicaSnapshots&) = delete;

  // A slot was applied whose record takes `record_bytes` of a segment.
  void applied(Slot slot, std::size_t record_bytes);
  // A client wishes for a snapshot of the slots below `below`, of which the last is being applied. Each repetition of
  // the wish counts, since its answer names a later slot.
  void wish(Slot below) { wished_below_ = std::max(wished_below_, below); }
  // A snapshot was installed.
  void installed();

  // Agreement cannot catch up without a snapshot.
  void needed(const AgreementStatus& status);
  void receive(EndpointId from, std::string_view message);
  void peer_gone(EndpointId peer);

  // Orders a snapshot if one is due and `may_begin`, and sends parts to readers. To be called after each round that did
  // something, at ticks, and while peers are served. Returns the number of orders and parts.
  int poll(const AgreementStatus& status, bool may_begin);
  // A file that has come from a peer and may be installed now. Its content is not trusted.
  std::optional<ReceivedFile> take_received();

  void tick();
  bool wants_tick() const;
  bool serves() const { return server_.serves(); }

  // The outcomes of an order to write a snapshot.
  void written(std::shared_ptr<const SnapshotServer::File> file);
  void failed();
  // The keeper has a snapshot of the slots below `below`, which may be trimmed.
  void note_published(Slot below);
  // Whether the keeper holds so many segments of ended incarnations that a snapshot shall release some.
  void note_segments_pressing(bool pressing) { segments_pressing_ = pressing; }

  bool kept() const { return options_.kept; }
  // Slots below it may be trimmed, if kept().
  Slot published() const { return published_; }

  std::uint64_t made() const { return made_; }
  std::uint64_t refused() const { return refused_ + reader_.refused() + server_.refused(); }

 private:
  bool due(const AgreementStatus& status);
  std::size_t threshold(const AgreementStatus& status) const;
  int turn(const AgreementStatus& status) const;
  int turns_passed() const;
  std::uint64_t fullest_segment_bytes(const AgreementStatus& status) const;
  void note_epoch(const AgreementStatus& status);
  void put_off_urgent();
  int delay_ticks() const;
  bool urgent() const;
  bool wished() const { return published() < wished_below_ && wished_below_ <= applier_.applied(); }
  // No amount of log is waited for.
  bool hurries() const { return urgent() || wished() || segments_pressing_; }
  bool urgent_done() const { return urgent_below_ <= published(); }
  // The last snapshot begun here is being made, or is not published yet.
  bool waits_for_publication() const { return published() < begun_; }
  std::size_t new_bytes() const { return log_.bytes_from(begun_); }  // of log that is in no snapshot begun here
  void begin();
  void order_publication();
  void discard(ReceivedFile file);
  bool overtaken() const;
  bool better_maker(EndpointId other, const AgreementStatus& status) const;

  Options options_;
  const Applier& applier_;
  const PeerStates& peers_;
  ActionQueue& queue_;
  const std::function<void(EndpointId, std::string)> send_;
  SnapshotReader reader_;
  SnapshotServer server_;
  LogMeter log_;             // of the slots above the published snapshot
  Slot begun_;               // slots below it were in the last snapshot that was begun here
  Epoch epoch_;              // as last seen
  Slot urgent_below_;        // slots below it, decided or in doubt at the epoch's change, may be in fewer segments
  Slot wished_below_;        // the highest that a client wished for
  Slot published_;           // slots below it are in a published snapshot
  bool writing_ = false;     // a snapshot was ordered, and its outcome is not known yet
  std::shared_ptr<const SnapshotServer::File> newest_;  // made here
  bool segments_pressing_ = false;
  bool held_back_ = false;   // a snapshot was due while another one was not published yet
  int urgent_ticks_ = 0;     // left until an urgent snapshot may begin: the failover goes first
  int overdue_ticks_ = 0;    // since a snapshot could have begun that no amount of log is waited for
  int quiet_ticks_ = 0;      // since the last slot was applied
  int retry_ticks_ = 0;      // since a snapshot was begun or tried again
  int unpublished_ticks_ = 0;   // since a whole file came that is not published yet
  std::uint64_t made_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace ingot::replication_replica_snapshots
