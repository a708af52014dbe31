// The core of a replica: a pure and resumable state machine. Inputs go in, one ordered queue of actions comes out.
//
// It knows no transport, clock, thread, process, shared memory or file: a driver does what the actions say. The host's
// and the chip's driver is Replica (replication/replica/replica.h); the simulator has its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/types.h"
#include "replication/agreement/agreement.h"
#include "replication/pages/pages.h"
#include "replication/replica/action.h"
#include "replication/replica/action_queue.h"
#include "replication/replica/applied_sink.h"
#include "replication/replica/applier.h"
#include "replication/replica/bounds.h"
#include "replication/replica/compaction.h"
#include "replication/replica/context.h"
#include "replication/replica/peer_states.h"
#include "replication/replica/proposals.h"
#include "replication/replica/requests.h"
#include "replication/replica/snapshots/replica_snapshots.h"
#include "replication/replica/stall_watch.h"
#include "replication/replica/state_clock.h"
#include "replication/replica/status_log.h"
#include "replication/replica/tick_watch.h"
#include "replication/replica/trees/broadcaster.h"
#include "replication/stable/store.h"
#include "replication/store/state_machine.h"

namespace ingot::inline replication_replica {

// The way of a command: a client's request arrives and waits in Proposals; a batch is proposed when the window has
// room; agreement decides it; the Applier applies it; the replica that the request names as its responder answers.
//
// A driver's round:
//
//   core.receive(...) for what has arrived, and other inputs
//   core.begin_round(now_ns, channels_wait);
//   while (const Action* action = core.next()) { do it; core.done(); }
//   core.publish(), core.set_ticking(...)
//
// The driver may stop, die or go on between any two actions; it goes on where it stopped before it gives other inputs.
// While an action is current, only its own answer may be an input. Outside of a round next() hands out only messages
// that inputs asked to send at once. Not thread-safe.
class ReplicaCore {
 public:
  struct Protocol {
    GroupConfig group;
    std::unique_ptr<Agreement> agreement;
  };
  struct Storage {
    StateMachine* state = nullptr;
    StableStore* stable = nullptr;  // only asked for its room; writes to it are actions
    // True: a keeper, which outlives all replicas, publishes the snapshots that it is handed.
    bool keeps_snapshots = false;
    // The newest published snapshot, to start from; without bytes: none. A file that is not a replica's snapshot is
    // refused and counted.
    SnapshotBytes snapshot{};
  };
  struct Parts {
    Protocol protocol;
    Storage storage;
    int endpoints = 0;                      // requests come from endpoints group.replicas .. endpoints-1
    ReplicaPage* page = nullptr;            // own, written here
    std::vector<const ReplicaPage*> pages;  // of all replicas, by id
    // Of all replicas, by id, as known at the start; empty: the first of each.
    std::vector<Incarnation> incarnations{};
    ReplicaBounds bounds{};
    // How broadcasts reach the group; none: a star, each replica directly. All replicas of a group have it or none.
    std::optional<TreeOptions> trees{};
    bool fences = false;  // orders kFence for Effects::fence; else the group waits for those replicas
    std::function<bool(EndpointId)> channel_ready;          // no message waits for room in the channel to the endpoint
    std::function<void(std::shared_ptr<void>)> discard{};  // destroys large objects where that delays nothing; or none
    AppliedSink* sink = nullptr;                            // or null
  };

  // Before the first round, next() hands out the actions that the start of this incarnation asks for.
  // REQUIRES: all that Parts points to outlives this.
  explicit ReplicaCore(Parts parts);
  ReplicaCore(const ReplicaCore&) = delete;
  ReplicaCore& operator=(const ReplicaCore&) = delete;

  // ---- Inputs ------------------------------------------------------------------------------------------------------

  void receive(EndpointId from, std::string_view message);

  // That incarnation is dead: the kernel says so, or its successor is announced. Its messages may still arrive later.
  void peer_died(ReplicaIncarnation peer);
  // The kernel has reported the peer's process stopped; it has gone on. REQUIRES of both: the channel is with that
  // incarnation. May be repeated.
  void peer_stopped(ReplicaIncarnation peer);
  void peer_continued(ReplicaIncarnation peer);
  // From now on the channel connects to that new incarnation.
  void peer_connected(ReplicaIncarnation peer);
  // Messages to the peer were dropped, and its backlog is now empty.
  void channel_drained(EndpointId peer);

  // Answers kReadSegment; null: the segment is missing or unreadable. The driver gives no answer if the segment's
  // writer may still live. REQUIRES: as Agreement::salvaged.
  void segment_read(ReplicaIncarnation of, const StableView* view);
  void history_read(const StableView& view);

  void snapshot_written(std::shared_ptr<const SnapshotServer::File> file);
  void snapshot_failed();
  // The keeper has a snapshot of the slots below `below`. May be repeated.
  void snapshot_published(Slot below) { snapshots_.note_published(below); }
  // How much room the keeper has left for the segments of ended incarnations. May be repeated.
  void kept_segments(KeptSegments state);
  void snapshot_decoded(absl::StatusOr<Applier::Decoded> outcome);
  void fenced(ReplicaIncarnation peer, bool killed);

  // ---- Rounds ------------------------------------------------------------------------------------------------------

  // To be called after the inputs that have arrived. `now_ns`: of a steady clock. `channels_wait`: a backlog waits for
  // kFlush. If it is false and there is nothing else to do, the round has no actions.
  void begin_round(std::uint64_t now_ns, bool channels_wait);
  // True if a round that begins now ticks.
  bool tick_due(std::uint64_t now_ns) const { return now_ns >= next_tick_ns_; }

  // The next action, the same until done(); null: the round is over.
  const Action* next();
  // The current action is done.
  void done();
  bool in_round() const { return stage_ != Stage::kIdle; }

  // Of the last round: the amount of work besides handling messages, and whether anything happened at all.
  int work() const { return snapshot_work_ + (acted_ || is_unfinished() ? 1 : 0); }
  bool worked() const { return worked_; }
  // It had nothing to do, so it has changed nothing: neither the page nor whether ticks are wanted.
  bool round_was_idle() const { return round_was_idle_; }

  // To be called after a round: whether the core wants ticks; whether the driver gives ticks, for itself or the core;
  // when the next round is due even if nothing arrives (Pollable::kNever: it is not).
  bool wants_tick() const;
  void set_ticking(bool wanted, std::uint64_t now_ns);
  std::uint64_t deadline_ns() const;

  // Writes the own page. The slot is written last, with release: a reader that acquires it sees the other fields as of
  // that slot or later.
  void publish();

  // ---- State -------------------------------------------------------------------------------------------------------

  const Agreement& agreement() const { return *agreement_; }
  // Agreement's, completed by what keeps this replica from proposing, and for how long nothing was decided.
  const AgreementStatus& status() const { return status_; }
  Applier& applier() { return applier_; }
  const Applier& applier() const { return applier_; }
  const TreeRouter* trees() const { return broadcaster_.router(); }  // null: a star
  std::uint64_t dropped_answers() const { return requests_.dropped(); }
  bool loading() const { return loading_; }  // a snapshot is being decoded, or not installed yet

 private:
  // A round's parts, in their order. A stage is over when next() has nothing left to hand out.
  enum class Stage : std::uint8_t { kStart, kIdle, kInputs, kSegments, kFlush, kSnapshots, kTrees, kWake, kCompaction };
  enum class Current : std::uint8_t { kNone, kQueued, kEffect, kInstall, kChannels };
  // How far the execution of effects has come.
  struct Progress {
    bool under_way = false;
    std::size_t stable = 0;
    std::size_t message = 0;
    int peer = -1;  // the next one that a broadcast goes to directly; -1: not begun
  };

  void receive_agreement(EndpointId from, std::string_view message);
  bool tick();
  Ballot leads() const;
  void tick_state();
  void note_clock();
  bool idle() const;
  void propose();
  void enter_next_stage();
  void offer_channels(Action::Kind kind);
  void order_segments();
  void poll_snapshots();
  void check_trees();
  void load(SnapshotBytes snapshot);
  bool offer_install();
  void install();
  void begin_effects();
  bool next_effect();
  bool next_apply();
  // The next round goes on with commands or queries, whatever arrives.
  bool is_unfinished() const { return !unapplied_.empty() || requests_.has_long_queries(); }
  void forget_first_decision();
  void next_message(const Outgoing& outgoing);
  void next_peer(const Outgoing& broadcast);
  void offer(const Action& action);
  void offer_send(EndpointId to, const SharedMessage& message);
  void effect_done();
  void apply(const Decision& decision);
  void after_slots();
  void after_apply();
  void note_room();
  void finish_effects();
  void tell_operator();
  void look_at_status();
  void add_own_causes(AgreementStatus& status) const;

  const GroupConfig group_;  // without the predecessor's stored state
  std::unique_ptr<Agreement> agreement_;
  const ReplicaBounds bounds_;
  const bool fences_;
  ReplicaPage& page_;
  std::function<void(std::shared_ptr<void>)> discard_;
  PeerStates peers_;
  ActionQueue queue_;
  Broadcaster broadcaster_;
  Applier applier_;
  Effects effects_;    // asked for by agreement, not begun yet
  Effects executing_;  // being executed; a member so that its memory is used again
  std::deque<Decision> unapplied_;  // decided, in their order; the first one may be applied in part
  std::size_t unapplied_bytes_ = 0;
  ReplicaContext context_;
  ReplicaSnapshots snapshots_;
  Compaction compaction_;
  Proposals proposals_;
  Requests requests_;
  StatusLog log_;
  StallWatch stall_;
  StateClock clock_;
  TickWatch tick_watch_;
  AgreementStatus status_;             // as of the end of the last round that did something
  std::uint64_t confirmed_reads_ = 0;  // by agreement

  Stage stage_ = Stage::kStart;
  Current current_ = Current::kNone;
  Action action_;
  Progress progress_;
  StepBudget apply_steps_{0};    // left in this round
  StepBudget query_steps_{0};    // likewise
  bool slots_applied_ = false;   // since agreement was last told
  int slot_commands_ = 0;        // of the slot that is being applied, so far
  std::uint64_t part_applies_ = 0;  // so often a slot was applied in part only
  bool answering_ = false;  // reads may be answerable: slots were applied, or effects executed, or a snapshot installed
  std::uint64_t now_ns_ = 0;
  std::uint64_t next_tick_ns_ = Pollable::kNever;
  std::uint64_t inputs_ = 1;  // since the last round began; the start is one
  int snapshot_work_ = 0;
  bool acted_ = false;
  bool had_inputs_ = false;  // when the round began
  bool worked_ = false;
  bool channels_wait_ = false;
  bool round_was_idle_ = false;
  std::vector<ReplicaIncarnation> wanted_segments_;  // of dead replicas; agreement asked for their content
  bool wants_history_ = false;                       // agreement asked for the content of all segments
  bool starting_ = false;                            // the snapshot that this replica starts from is being loaded
  bool loading_ = false;
  std::optional<Applier::Decoded> decoded_;          // a snapshot to be installed
  std::uint64_t refused_ = 0;                        // messages and snapshots
};

}  // namespace ingot::replication_replica
