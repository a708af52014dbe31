// A replica's part in snapshots: makes them so that logs can be trimmed, hands them to whoever keeps them, gives them to
// peers, and gets one itself when it is too far behind.
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

namespace ingot {

// Not thread-safe; used by its replica's loop only.
class ReplicaSnapshots {
 public:
  struct Options {
    GroupConfig group;
    SnapshotBounds bounds{};
    std::size_t segment_bytes = 0;  // of a stable store's room for records
    // A keeper outlives all replicas: a snapshot that it has published may replace entries. False: trimming follows the
    // living alone.
    bool kept = false;
    std::function<bool(EndpointId)> ready;                   // its channel has room
    // Takes what may be large and is not needed any more; none: it ends where it is.
    std::function<void(std::shared_ptr<void>)> discard{};
  };

  // REQUIRES: `applier`, `peers` and `queue` outlive this.
  ReplicaSnapshots(Options options, const Applier& applier, const PeerStates& peers, ActionQueue& queue);
  ReplicaSnapshots(const ReplicaSnapshots&) = delete;
  ReplicaSnapshots& operator=(const ReplicaSnapshots&) = delete;

  // A slot was applied that a segment needs so many bytes for.
  void applied(Slot slot, std::size_t record_bytes);
  // What is applied came with a snapshot.
  void installed();

  // Agreement cannot catch up without a snapshot.
  void needed(const AgreementStatus& status);
  void receive(EndpointId from, std::string_view message);
  void peer_gone(EndpointId peer);

  // After each round that did something, at ticks, and while peers are served: orders a snapshot if one is due and
  // `may_begin`, sends parts. Returns how much it did.
  int poll(const AgreementStatus& status, bool may_begin);
  // A file that has come from a peer and may be installed; it may be whatever a peer sends.
  std::optional<ReceivedFile> take_received();

  void tick();
  bool wants_tick() const;
  bool serves() const { return server_.serves(); }

  // What the order to write one came to.
  void written(std::shared_ptr<const SnapshotServer::File> file);
  void failed();
  // The keeper has one of the slots below `below`, which may be trimmed.
  void note_published(Slot below) { published_ = std::max(published_, below); }

  bool kept() const { return options_.kept; }
  // Slots below it may be trimmed, if kept().
  Slot published() const { return published_; }

  std::uint64_t made() const { return made_; }
  std::uint64_t refused() const { return refused_ + reader_.refused() + server_.refused(); }

 private:
  bool due(const AgreementStatus& status);
  std::size_t threshold(const AgreementStatus& status) const;
  int turn(const AgreementStatus& status) const;
  std::uint64_t fullest_segment_bytes(const AgreementStatus& status) const;
  void note_epoch(const AgreementStatus& status);
  void put_off_urgent();
  bool urgent() const;
  bool urgent_done() const { return urgent_below_ <= published(); }
  bool waits_for_publication() const { return published() < begun_; }  // or one is being made
  std::size_t new_bytes() const { return log_.bytes_from(begun_); }  // neither sealed nor being sealed
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
  LogMeter log_;             // above what is sealed
  Slot begun_;               // slots below it were in the last snapshot that was begun here
  Epoch epoch_;              // as last seen
  Slot urgent_below_;        // decided or in doubt when the epoch changed: they may be in fewer segments than others
  Slot published_;           // slots below it are in one that the keeper has
  bool writing_ = false;     // one was ordered, and no outcome has come
  std::shared_ptr<const SnapshotServer::File> newest_;  // made here
  bool held_back_ = false;   // one was due, and another one was not sealed yet
  int urgent_ticks_ = 0;     // until then the group has other things to do
  int quiet_ticks_ = 0;      // since something was applied
  int retry_ticks_ = 0;      // since one was begun
  int unpublished_ticks_ = 0;   // since a whole file came that is not sealed
  std::uint64_t made_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace ingot
