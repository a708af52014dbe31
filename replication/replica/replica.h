// One replica: wires one transport, one agreement and one state machine together, and executes what agreement asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/limits.h"
#include "core/types.h"
#include "replication/agreement/agreement.h"
#include "replication/replica/applier.h"
#include "replication/replica/batcher.h"
#include "replication/replica/outbox.h"
#include "replication/pages/pages.h"
#include "replication/replica/peer_segments.h"
#include "replication/replica/read_queue.h"
#include "replication/replica/snapshots/replica_snapshots.h"
#include "replication/requests/request.h"
#include "replication/replica/snapshots/loader.h"
#include "replication/stable/segment.h"
#include "replication/store/state_machine.h"
#include "replication/replica/status_log.h"
#include "replication/replica/trees/router.h"
#include "transport/pollable.h"
#include "transport/host/peer_incarnations.h"
#include "transport/transport.h"

namespace ingot {

// The way of a command: a client's request arrives and waits in the Batcher; a batch is proposed when the window has
// room; agreement decides it; the Applier applies it; the replica that the request names as its responder answers.
//
// Everything here happens in poll(), on the thread of the replica's loop.
class Replica : public Pollable {
 public:
  struct Parts {
    GroupConfig group;
    int endpoints = 0;  // of the fabric; requests come from endpoints group.replicas .. endpoints-1
    Transport* transport = nullptr;
    std::unique_ptr<Agreement> agreement;
    StateMachine* state = nullptr;
    StableSegment* stable = nullptr;
    ReplicaPage* page = nullptr;              // own, written here
    std::vector<const ReplicaPage*> pages;    // of all replicas, by id
    // Own proposals that may be undecided while a batch is not full: what arrives meanwhile makes the next batch larger.
    int pipeline_slots = kPipelineSlotsOwnCore;
    std::function<void(ReplicaPage&)> publish_state;  // sets the gauges of the state machine
    // How broadcasts reach the group; none: a star, each replica directly. All replicas of a group have it or none.
    std::optional<TreeOptions> trees{};
    // The stable segments of all replicas' lives, by id. None: nobody's death is noticed here.
    std::vector<IncarnationSegments> segments{};
    // Over the same transport. Null: nobody comes back.
    PeerIncarnations* incarnations = nullptr;
    // Grows when somebody has died, so that this replica looks at once who it was (it also looks at each tick); or null.
    const Counter* deaths = nullptr;
    const Counter* marks = nullptr;  // likewise, as soon as the kernel has marked a segment; or null
    // A line for the operator's log; none: nothing is said.
    std::function<void(const std::string&)> log{};
    // With group.fencing: kills that very incarnation, and says whether it ran; none: nobody is killed.
    std::function<bool(ReplicaIncarnation)> fence{};

    // Slots below it are in a snapshot that outlives all replicas, so that it may be needed by nobody but a group that
    // starts anew; null: nobody keeps any, and trimming follows the living (docs/design/stable-storage.md).
    const Counter* published_slot = nullptr;
    // Hands a published snapshot to whoever keeps them; who needs the descriptor for longer duplicates it.
    std::function<void(Slot, int fd)> publish{};
    // The newest of them, to start from; empty: none. One that is not what a replica sealed is refused and counted.
    SnapshotBytes snapshot{};
    // Whether a child process writes snapshots while the loop goes on. Only where the process has one loop.
    bool fork_snapshots = false;
    // Whether a thread reads a snapshot while the loop goes on; else the constructor, or the loop, reads it at once.
    bool load_in_background = false;
    std::vector<CoreId> helper_cores{};  // where those two run; empty: anywhere
  };

  // REQUIRES: all that Parts points to outlives this.
  explicit Replica(Parts parts);

  int poll(std::uint64_t now_ns) override;
  bool readable() override;
  std::uint64_t deadline_ns() const override;

  // The process of another replica is said to have died. Agreement believes only the kernel's mark on its segment.
  void peer_died(EndpointId peer);

  // The next incarnation of another endpoint is about to begin, as the supervisor says: so the one before is dead.
  // `stable`: a replica's segment. In the loop's thread, between polls. REQUIRES: Parts::lives.
  void begin_incarnation(PeerIncarnation announced, std::shared_ptr<const Segment> stable);

  const Applier& applier() const { return applier_; }
  const TreeRouter* trees() const { return trees_.get(); }  // null: a star
  bool loading() const { return loader_.running(); }        // a snapshot, beside the loop

 private:
  static std::unique_ptr<TreeRouter> make_trees(Parts& parts);
  void receive(EndpointId from, std::string_view message);
  void receive_agreement(EndpointId from, std::string_view message);
  void receive_by_tree(EndpointId from, std::string_view message);
  void receive_request(EndpointId from, std::string_view message);
  void receive_command(const Request& request);
  void receive_linearizable_query(const Request& request);
  void receive_local_query(const Request& request);
  void receive_move(const Request& request);
  bool tick_if_due(std::uint64_t now_ns);
  std::uint64_t deaths_told() const;
  void poll_peers();
  void peer_gone(ReplicaIncarnation name);
  void meet_peers();
  int poll_incarnations();
  void peer_back(ReplicaIncarnation name);
  bool read_segments();
  Slot history_from() const;
  void note_leadership(const AgreementStatus& status);
  bool tree_is_whole(EndpointId root) const;
  bool answers(const Request& request) const;
  bool silent(EndpointId peer) const { return (silent_ >> peer.value() & 1) != 0; }
  void propose_batches();
  bool may_propose() const;
  void execute_effects();
  void after_apply();
  void store(const std::vector<StableWrite>& writes);
  void send(std::vector<Outgoing>& messages);
  void broadcast(const std::shared_ptr<const std::string>& message);
  void poll_trees(std::uint64_t now_ns, bool working);
  void apply(const Decision& decision);
  void reject(const Rejection& rejection);
  void answer_reads();
  ReplicaSnapshots::Options snapshot_options();
  int poll_snapshots();
  void load(SnapshotBytes snapshot);
  bool finish_load();
  void install(Applier::Decoded snapshot);
  bool snapshots_wait() const;
  bool has_room_for(std::string_view message);
  bool segments_have_room() const;
  void compact();
  Slot trim_point(bool pressed) const;
  Slot known_to_enough(bool pressed) const;
  void respond(EndpointId to, std::uint64_t sequence, Response::Status status, std::string_view payload);
  void tell_operator(const Effects& effects);
  void tell_of_status(std::uint64_t now_ns);
  void publish();

  Parts parts_;
  PeerSegments peers_;
  StatusLog log_;
  std::unique_ptr<TreeRouter> trees_;  // null: broadcasts are stars
  Applier applier_;
  SnapshotLoader loader_;
  Outbox outbox_;
  ReplicaSnapshots snapshots_;
  Batcher batcher_;
  ReadQueue reads_;
  Effects effects_;    // what agreement asked for and is not executed yet
  Effects executing_;  // what is being executed; kept for its memory
  std::uint64_t next_tick_ns_ = Pollable::kNever;
  std::uint64_t next_proposal_id_ = 1;
  std::deque<std::pair<Slot, std::size_t>> window_;  // bytes of own proposals that are not decided
  std::size_t window_bytes_ = 0;
  Ballot leads_;  // the leadership that batcher_ and window_ are of; 0: this replica does not lead
  std::vector<ReplicaIncarnation> wanted_segments_;  // of the dead; agreement asked for what they hold
  bool wants_history_ = false;                // agreement asked for what segments hold, of the dead or the living
  bool begins_ = false;                       // the snapshot that it starts from is being loaded
  std::uint64_t deaths_seen_ = 0;
  std::uint64_t silent_ = 0;  // bit by replica: agreement suspects it, and it has not been heard since
  Slot trimmed_;
  Slot next_trim_{kTrimSlots};  // applied slots at which trimming is tried again
  std::uint64_t refused_requests_ = 0;
  std::uint64_t refused_snapshots_ = 0;
  std::uint64_t deferred_messages_ = 0;  // of agreement, for want of room in the segment
  std::uint64_t received_messages_ = 0;
  std::uint64_t busy_ns_ = 0;         // from rounds that found work to the next
  std::uint64_t worked_at_ns_ = 0;    // the last round, if it found work; else 0
};

}  // namespace ingot
