// The agreement seam: a protocol is a pure state machine. Messages and ticks go in, effects come out.
// No clock, thread, I/O, atomic or unseeded randomness lives behind this interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/replica_set.h"
#include "core/types.h"
#include "replication/agreement/limits.h"
#include "replication/agreement/status.h"
#include "replication/requests/message_class.h"
#include "replication/requests/shared_message.h"
#include "replication/stable/write.h"

namespace ingot::inline replication_stable {
struct StableView;  // replication/stable/view.h
}

namespace ingot::inline replication_agreement {

// One incarnation of a replica. A restarted replica is a new incarnation: it inherits what its predecessor stored, but
// not its roles.
struct ReplicaIncarnation {
  EndpointId id;
  Incarnation incarnation;

  bool operator==(const ReplicaIncarnation&) const = default;
};

// Bounds of one agreement object: by default those of the layers' limits.h; only tests narrow them.
struct AgreementBounds {
  int window_slots = kWindowSlots;
  int command_log_slots = kCommandLogSlots;
  std::size_t command_log_bytes = kCommandLogBytesMax;
  int learner_ahead_slots = kLearnerAheadSlots;
  std::size_t prepared_bytes = kPreparedBytesMax;
  std::size_t window_bytes = kProposalWindowBytesMax;   // a leader with more undecided bytes takes no proposal
  std::size_t in_flight_bytes = kInFlightBytesMax;      // REQUIRES: window_bytes and a batch fit into it
  int leader_changes = kLeaderChangesKept;              // newest of one epoch that a replica keeps
  std::size_t repeat_bytes = kRepeatBytesMax;           // of decided slots that in-flight entries or a segment repeat
  int suspect_ticks = kSuspectTicks;                    // the shortest silence that is suspicious
};

// The group at its start. Equal on all replicas but for self, incarnation, bounds and predecessor.
// Replicas are endpoints 0 .. replicas-1; voters are 0 .. voters-1, the others are learners.
// REQUIRES: 1 <= voters <= replicas <= kReplicasMax, voters <= kVotersMax, self < replicas, incarnation > 0,
// bounds.window_slots <= bounds.learner_ahead_slots; window_slots and window_bytes are equal on all replicas.
//
// An incarnation above 1 starts only when its predecessor's writer is known dead. It inherits the predecessor's votes:
// the first effects (of Agreement::start) store them in its own segment, before anything else. It inherits no role; the
// group may name it leader or acceptor anew. Until it has caught up with a peer it counts as down: it votes on
// configurations, but neither leads nor accepts. Without `predecessor` (the segment is missing or unreadable, so its
// content is unknown and not empty) the incarnation never votes. An incarnation can die before it has inherited. The
// last thing that start() stores is a kConfiguration, so `predecessor` is the newest earlier incarnation that is
// incarnation 1 or whose view has a configuration (may_be_inherited in replication/stable/view.h).
struct GroupConfig {
  int replicas = 3;
  int voters = 3;
  EndpointId self{};
  Incarnation incarnation{1};
  AgreementBounds bounds{};
  std::shared_ptr<const StableView> predecessor{};  // of the incarnation before; ignored if incarnation is 1
};

struct Outgoing {
  bool broadcast = false;  // to every other replica, by the current tree; `to` is then ignored
  EndpointId to;
  SharedMessage message;
  // For an answer to a broadcast of `to`: equal answers of several replicas may travel as one message. They reach
  // receive() as if each had come alone, a little later.
  bool combine = false;
  // Of a broadcast: these replicas hold what it carries, and get `brief` in its place. Along a tree, where one may have
  // to pass it on, all get the whole.
  ReplicaSet holders{};
  SharedMessage brief{};

  // What goes to a peer directly.
  const SharedMessage& message_to(EndpointId peer) const { return holders.contains(peer) ? brief : message; }
};

struct Decision {
  Slot slot;
  std::shared_ptr<const std::string> command;  // an empty command is a no-op that filled a gap
};

// A linearizable read may be answered from the local state once slots below `applied_needed` are applied.
struct ReadReady {
  std::uint64_t read_id;
  Slot applied_needed;
};

// A request that was not carried out here, and the leader that this replica knows.
struct Rejection {
  enum class Kind : std::uint8_t { kCommand, kRead };
  enum class Why : std::uint8_t { kNotLeader, kBusy };
  Kind kind;
  Why why;
  std::uint64_t id;  // the id that came with propose or read
  EndpointId leader;
};

// The outcome of one or more inputs. The caller executes the fields in this order and never skips one:
//  1. stable            stored in this replica's segment before any message of the same batch leaves
//  2. messages          handed to the transport; may be dropped only when a peer's backlog is full
//  3. decided           contiguous ascending slots, each once during the lifetime of this object
//  4. reads_ready, rejected, snapshot_needed, suspects, salvage_needed, history_needed, fence
// Inputs append; the caller clears between executions.
struct Effects {
  std::vector<StableWrite> stable;
  std::vector<Outgoing> messages;
  std::vector<Decision> decided;
  std::vector<ReadReady> reads_ready;
  std::vector<Rejection> rejected;
  bool snapshot_needed = false;  // this replica is further behind than any answering peer's command log
  std::vector<EndpointId> suspects;  // silent for too long since their last answer; for logs
  // Segments of dead incarnations whose content is needed. The caller reads them and answers each with salvaged(). The
  // same segment may be asked for again.
  std::vector<ReplicaIncarnation> salvage_needed;
  // Decided slots are missing here and no peer can supply them. The caller answers with history() for each segment that
  // it has, of any incarnation of any replica.
  bool history_needed = false;
  // Stopped replicas whose death would unblock agreement: what they hold is needed, and no running replica has it. The
  // caller may kill them, and reports peer_died once the kernel confirms it. The protocol itself never acts on this.
  std::vector<ReplicaIncarnation> fence;

  // Keeps the vectors' memory: a busy loop does not allocate for its effects.
  void clear() {
    stable.clear();
    messages.clear();
    decided.clear();
    reads_ready.clear();
    rejected.clear();
    snapshot_needed = false;
    suspects.clear();
    salvage_needed.clear();
    history_needed = false;
    fence.clear();
  }
  bool empty() const {
    return stable.empty() && messages.empty() && decided.empty() && reads_ready.empty() && rejected.empty() &&
           !snapshot_needed && suspects.empty() && salvage_needed.empty() && !history_needed && fence.empty();
  }
};

// Not thread-safe; used by its replica's loop only.
class Agreement {
 public:
  virtual ~Agreement() = default;

  // Once, before any other input: what this incarnation must store and send at its start.
  virtual void start(Effects&) {}

  // A batch of commands (one slot's worth, at most kBatchBytesMax) that this replica's clients want decided.
  // `proposal_id` identifies it in a Rejection. A leader always takes it while can_propose() is true; 2PC may still
  // reject it later (kBusy) if a participant votes no: then the batch was not carried out. The absence of a Rejection
  // does not mean that it will be.
  // REQUIRES: command is not null and has 1 to kBatchBytesMax bytes.
  virtual void propose(std::uint64_t proposal_id, std::shared_ptr<const std::string> command, Effects& effects) = 0;

  // True if this replica leads and its window has room.
  virtual bool can_propose() const = 0;

  // A linearizable read: answered by a ReadReady or a Rejection with the same id.
  virtual void read(std::uint64_t read_id, Effects& effects) = 0;

  // A message from a peer. Malformed, foreign and outdated messages are refused and counted, and change nothing.
  virtual void receive(EndpointId from, std::string_view message, Effects& effects) = 0;

  // Time passes. The replica ticks every kTickMs while wants_tick(), and not otherwise.
  virtual void tick(Effects& effects) = 0;
  virtual bool wants_tick() const = 0;

  // The backlog to `peer` overflowed and has drained: messages to it may be lost. Sends what the peer needs to notice
  // that.
  virtual void peer_drained(EndpointId peer, Effects& effects) = 0;

  // Slots below `applied` are applied here. Lets 2PC acknowledge a commit, and every protocol trim.
  virtual void applied(Slot applied, Effects& effects) = 0;

  // Slots below `keep_from` are applied here and on every voter, so their votes and proposals may be trimmed; others
  // are kept. Under memory pressure fewer voters may have applied them: the rest then need a peer's command log or a
  // snapshot. If all replicas may die at once, `keep_from` lies below a snapshot that outlives them
  // (docs/agreement.md).
  virtual void compact(Slot keep_from, Effects& effects) = 0;

  // A snapshot holds the effects of all slots below `first_undecided`, and the caller has installed it: decisions go on
  // from there. No effect if these slots are decided here already. This replica cannot pass the slots below it on to
  // peers, so the snapshot must outlive all replicas, as one below which entries are trimmed must.
  virtual void installed(Slot first_undecided, Effects& effects) = 0;

  // Whether a snapshot is being loaded here. Meanwhile this replica knows less than it will, and does not lead.
  virtual void loading(bool) {}

  // ---- Death, salvage, suspicion ------------------------------------------------------------------------------------

  // The kernel says that the writer thread of this incarnation is dead: it will never store or send again, and its
  // segment is final. Never called on a suspicion. May come before messages that the incarnation sent earlier;
  // repetitions change nothing.
  virtual void peer_died(ReplicaIncarnation, Effects&) {}

  // An incarnation that is new to this replica runs now, so its predecessors are dead. (Messages imply the same.)
  virtual void peer_started(ReplicaIncarnation, Effects&) {}

  // The kernel says that the process of that incarnation was stopped: a reason to doubt, and no proof of death. It may
  // go on at any time, and may have gone on already. It triggers what silence triggers once it is suspicious, without a
  // waiting client and at once, and nothing else. Any message from that replica ends the doubt. May be repeated.
  virtual void peer_stopped(ReplicaIncarnation, Effects&) {}
  // It has gone on. Ends the doubt, and proves as little.
  virtual void peer_continued(ReplicaIncarnation, Effects&) {}

  // The content of a dead incarnation's segment, requested by Effects::salvage_needed. Null: the segment is missing or
  // unreadable, so what was stored is unknown. A segment that its owner is known never to have opened is an empty view
  // instead. May come unrequested, repeatedly, or late.
  // REQUIRES: the incarnation's writer is known dead and the view was read after that.
  virtual void salvaged(ReplicaIncarnation, const StableView*, Effects&) {}

  // The present or recent content of some segment, requested by Effects::history_needed. Its writer may be alive.
  virtual void history(const StableView&, Effects&) {}

  // A client's request waits here for the leader, in vain or because no leader is known. (A rejected propose or read
  // implies the same.) Only this makes a replica suspect a leader: it then asks the leader for a sign of life, and
  // wants ticks until one comes. An idle group exchanges no messages, however long it idles.
  virtual void client_waits(Effects&) {}

  // Moves a role to a voter by configuration, as `ingotctl move` requests. kLeader: called on that voter itself;
  // kAcceptor: called on the leader. OK: begun; the status shows when it is done, and another replica may still win.
  // Otherwise nothing has changed, and the message says why in a sentence. Errors: ALREADY_EXISTS (that voter has the
  // role), FAILED_PRECONDITION (not now, or not on this replica), INVALID_ARGUMENT (never possible).
  [[nodiscard]] virtual absl::Status move(Role, EndpointId, Effects&) {
    return absl::FailedPreconditionError("roles cannot be moved in this agreement");
  }

  // The whole status, built anew at each call.
  virtual AgreementStatus status() const = 0;

  // Single fields of status(), for callers that need them with each command and each answer.
  virtual Role role() const { return status().role; }
  virtual EndpointId leader() const { return status().leader; }
  virtual EndpointId acceptor() const { return status().acceptor; }
  virtual Ballot ballot() const { return status().ballot; }
  virtual Slot next_slot() const { return status().proposed; }

  // The most bytes of stable records that receive(message) may store; 0: none, or too few to fill the store. Without
  // room for them the caller drops the message, and its sender retransmits it.
  virtual std::size_t stored_bytes_max(std::string_view message) const = 0;

  // Bytes of stable records that have room besides what the inputs so far store. A takeover that stores more waits
  // until a later call grants them: no message repeats what it stores. Until the first call there is no bound.
  virtual void room(std::size_t) {}

  // Messages refused so far, for any reason.
  virtual std::uint64_t refused_messages() const = 0;
};

// Properties of an agreement that matter to a caller that runs it or keeps its stored state.
struct AgreementTraits {
  // True if stored votes were chosen. Then a dead incarnation's votes are not inherited but read as history
  // (Effects::history_needed), and its segment is kept until a published snapshot covers what it holds.
  bool votes_are_history = false;
  // One voter other than the leader has the role of the acceptor, and its vote alone decides.
  bool has_acceptor = false;
};

}  // namespace ingot::replication_agreement
