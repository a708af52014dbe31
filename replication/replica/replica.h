// One replica on a loop of the host or of the chip: drives a ReplicaCore with a transport, a stable store, the segments
// of its peers, and the process that it lives in.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/counters.h"
#include "core/replica_set.h"
#include "core/types.h"
#include "replication/pages/doubt_watch.h"
#include "replication/pages/pages.h"
#include "replication/replica/core.h"
#include "replication/replica/outbox.h"
#include "replication/replica/peer_segments.h"
#include "replication/replica/snapshots/loader.h"
#include "replication/replica/snapshots/writer.h"
#include "replication/stable/store.h"
#include "transport/host/peer_incarnations.h"
#include "transport/pollable.h"
#include "transport/transport.h"

namespace ingot::inline replication_replica {

// Everything here happens in poll(), on the thread of the replica's loop.
class Replica : public Pollable {
 public:
  struct Channels {
    int endpoints = 0;  // of the fabric; requests come from endpoints group.replicas .. endpoints-1
    Transport* transport = nullptr;
    PeerIncarnations* incarnations = nullptr;  // over the same transport. Null: dead peers are not restarted
  };
  struct Pages {
    ReplicaPage* own = nullptr;                            // written here
    std::vector<const ReplicaPage*> all;                   // by id
    std::function<void(ReplicaPage&)> publish_state = {};  // sets the gauges of the state machine; or none
  };
  // How deaths and stops are noticed.
  struct Deaths {
    std::vector<IncarnationSegments> segments{};  // by replica; none: no death is noticed here
    // Grows when a replica has died, so that this one polls the segments at once (as at each tick); or null.
    const Counter* reported = nullptr;
    const Counter* marks = nullptr;  // likewise, as soon as the kernel has marked a segment; or null
    const DaemonPage* stops = nullptr;  // shows which replicas' processes are stopped (ProcessEntry::doubted); or null
  };
  struct Snapshots {
    // Slots below it are in a published snapshot, which outlives all replicas: a group that starts anew begins with it.
    // Null: none is kept, and trimming depends on the living replicas alone (docs/design/stable-storage.md).
    const Counter* published_slot = nullptr;
    const Counter* kept_segments_state = nullptr;  // KeptSegments, likewise; null: kFew
    // Hands a snapshot to the keeper, which duplicates the descriptor; or none.
    std::function<void(Slot, int fd)> publish{};
    SnapshotBytes first{};  // the newest published snapshot, to start from; without bytes: none
    // Whether a child process writes snapshots while the loop goes on. Only where the process has one loop.
    bool fork = false;
    bool load_in_background = false;   // whether a thread reads a snapshot while the loop goes on
    bool load_first_at_once = false;   // the first one is read before the loop goes on nevertheless
    std::vector<CoreId> helper_cores{};  // where that child and that thread run; empty: anywhere
  };
  struct Operator {
    std::function<void(const std::string&)> log{};  // takes a line without its line end; or none
    // Kills that very incarnation, and returns whether it ran; none: no replica is killed.
    std::function<bool(ReplicaIncarnation)> fence{};
  };
  struct Parts {
    ReplicaCore::Protocol protocol;
    StateMachine* state = nullptr;
    StableStore* stable = nullptr;
    Channels channels;
    Pages pages;
    Deaths deaths{};
    Snapshots snapshots{};
    Operator op{};
    ReplicaBounds bounds{};
    std::optional<TreeOptions> trees{};  // as ReplicaCore::Parts
  };

  // REQUIRES: all that Parts points to outlives this.
  explicit Replica(Parts parts);

  int poll(std::uint64_t now_ns) override;
  bool readable() override;
  std::uint64_t deadline_ns() const override { return core_.deadline_ns(); }

  // The supervisor announces the next incarnation of another endpoint: so the one before is dead. `stable`: the new
  // segment, if the endpoint is a replica; null: it could not be mapped. To be called in the loop's thread, between
  // polls. REQUIRES: Channels::incarnations.
  void begin_incarnation(PeerIncarnation announced, std::shared_ptr<const Segment> stable);
  // Likewise, of an incarnation that has ended before this replica heard of it. REQUIRES: it is of another replica, and
  // newer than all that are known here.
  void note_ended(ReplicaIncarnation ended, std::shared_ptr<const Segment> stable);
  // The supervisor keeps the segments of these earlier incarnations of the replica, in ascending order, and has
  // released the others.
  void keep_segments(EndpointId replica, std::span<const Incarnation> kept);

  const Agreement& agreement() const { return core_.agreement(); }
  const Applier& applier() const { return core_.applier(); }
  const TreeRouter* trees() const { return core_.trees(); }  // null: a star
  bool loading() const { return core_.loading(); }           // a snapshot

 private:
  ReplicaCore::Parts core_parts(Parts& parts);
  void run();
  void execute(const Action& action);
  std::uint64_t deaths_reported() const;
  void wake_receivers();
  void poll_deaths();
  void poll_doubts(std::uint64_t now_ns);
  Slot published() const;
  void poll_keeper();
  void peer_died(ReplicaIncarnation name);
  int poll_incarnations();
  void read_segment(const Action& action);
  void write_snapshot();
  void finish_snapshot();
  void finish_load();
  void fence(ReplicaIncarnation name);
  void publish();

  const Channels channels_;
  const Pages pages_;
  const int replicas_;
  Deaths deaths_;        // without the segments
  Snapshots snapshots_;  // without the first one
  const Operator operator_;
  StableStore& stable_;
  PeerSegments segments_;
  DoubtWatch doubts_;
  Outbox outbox_;
  SnapshotWriter writer_;
  std::shared_ptr<const PublishedSnapshot> newest_;  // written here
  ReplicaCore core_;
  SnapshotLoader loader_;  // uses the core, so it is declared after it and destroyed first
  std::uint64_t deaths_seen_ = 0;
  ReplicaSet doubted_;            // as of the last poll of doubts_
  int flushed_ = 0;               // messages of backlogs that were sent in this round
  bool fragments_wait_ = false;   // as of the last wake
  bool woke_ = true;  // receivers were woken since this round began and since the last message was sent
  std::uint64_t received_messages_ = 0;
  std::uint64_t pauses_ns_ = 0;     // for which snapshots stopped the loop
  std::uint64_t busy_ns_ = 0;       // sum of times from a round that found work to the next round
  std::uint64_t worked_at_ns_ = 0;  // when the last round began, if it found work; else 0
};

}  // namespace ingot::replication_replica
