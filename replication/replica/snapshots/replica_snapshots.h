// A replica's part in snapshots: makes them so that logs can be trimmed, hands them to whoever keeps them, gives them to
// peers, and gets one itself when it is too far behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/counters.h"
#include "core/types.h"
#include "replication/agreement/status.h"
#include "replication/replica/applier.h"
#include "replication/replica/snapshots/log_meter.h"
#include "replication/pages/pages.h"
#include "replication/replica/snapshots/transfer.h"
#include "replication/replica/snapshots/writer.h"

namespace ingot {

// Not thread-safe; used by its replica's loop only.
class ReplicaSnapshots {
 public:
  struct Options {
    EndpointId self;
    Incarnation incarnation;
    int replicas = 0;
    int voters = 0;
    std::size_t segment_bytes = 0;  // of a stable segment's room for records
    SnapshotWriter::How how = SnapshotWriter::How::kInline;
    std::vector<CoreId> helper_cores;  // where a child writes it; empty: anywhere
    // Slots below it are in a snapshot that outlives all replicas; null: nobody keeps any.
    const Counter* published_slot = nullptr;
    std::function<void(Slot, int fd)> publish;       // hands one to whoever keeps it, who duplicates the descriptor
    std::vector<const ReplicaPage*> pages;         // of all replicas, by id
    std::function<bool(EndpointId)> lagging;          // dead, or not caught up
    std::function<bool(EndpointId)> ready;         // its channel has room
    std::function<void(EndpointId, std::string)> send;
  };

  // REQUIRES: `applier` outlives this.
  ReplicaSnapshots(Options options, const Applier& applier);
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

  // After each round that did something, at ticks, and while peers are served: begins a snapshot if one is due and
  // `may_begin`, hands out one that is made, sends parts. Returns how much it did.
  int poll(const AgreementStatus& status, bool may_begin);
  // A file that has come from a peer and may be installed; it may be whatever a peer sends.
  std::optional<ReceivedFile> take_received();

  void tick();
  bool wants_tick() const;
  bool serves() const { return server_.serves(); }

  // False: trimming follows the living alone.
  bool kept() const { return options_.published_slot != nullptr && options_.publish != nullptr; }
  // Slots below it may be trimmed, if kept().
  Slot published() const { return Slot(options_.published_slot->get_acquire()); }

  std::uint64_t made() const { return made_; }
  std::uint64_t pauses_ns() const { return pauses_ns_; }  // of the loop, in all
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
  bool finish();
  bool overtaken() const;
  bool better_maker(EndpointId other, const AgreementStatus& status) const;

  Options options_;
  const Applier& applier_;
  SnapshotWriter writer_;
  SnapshotReader reader_;
  SnapshotServer server_;
  LogMeter log_;             // above what is sealed
  Slot begun_;               // slots below it were in the last snapshot that was begun here
  Epoch epoch_;              // as last seen
  Slot urgent_below_;        // decided or in doubt when the epoch changed: they may be in fewer segments than others
  std::shared_ptr<const PublishedSnapshot> newest_;  // made here
  bool held_back_ = false;   // one was due, and another one was not sealed yet
  bool check_child_ = false;        // whether a child is done: not in each round
  int urgent_ticks_ = 0;     // until then the group has other things to do
  int quiet_ticks_ = 0;      // since something was applied
  int retry_ticks_ = 0;      // since one was begun
  int unpublished_ticks_ = 0;   // since a whole file came that is not sealed
  std::uint64_t made_ = 0;
  std::uint64_t pauses_ns_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace ingot
