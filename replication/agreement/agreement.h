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
#include "core/limits.h"
#include "core/types.h"
#include "replication/agreement/limits.h"
#include "replication/agreement/status.h"
#include "replication/stable/write.h"

namespace ingot {

struct StableView;  // replication/stable/view.h

// One incarnation of a replica. A restarted one is somebody else; what its predecessor stored it inherits, its roles it
// does not.
struct ReplicaIncarnation {
  EndpointId id;
  Incarnation incarnation;

  bool operator==(const ReplicaIncarnation&) const = default;
};

// Bounds of one agreement object: those of core/limits.h, unless a test narrows them.
struct AgreementBounds {
  int window_slots = kWindowSlots;
  int command_log_slots = kCommandLogSlots;
  std::size_t command_log_bytes = kCommandLogBytesMax;
  int learner_ahead_slots = kLearnerAheadSlots;
  std::size_t prepared_bytes = kPreparedBytesMax;
  std::size_t window_bytes = kProposalWindowBytesMax;  // a leader with more undecided bytes takes no proposal
  std::size_t in_flight_bytes = kInFlightBytesMax;            // REQUIRES: window_bytes and a batch fit into it
  std::size_t repeat_bytes = kRepeatBytesMax;          // of decided slots, in the in-flight entries or in a new leader's segment
  int suspect_ticks = kSuspectTicks;                   // the shortest silence that is suspicious
};

// What the group looks like when it starts; equal on all replicas but for self, incarnation, bounds and predecessor.
// Replicas are endpoints 0 .. replicas-1; voters are 0 .. voters-1, the others are learners.
// REQUIRES: 1 <= voters <= replicas <= kReplicasMax, voters <= kVotersMax, self < replicas, incarnation > 0,
// bounds.window_slots <= bounds.learner_ahead_slots; window_slots and window_bytes are equal on all replicas.
//
// An incarnation above 1 starts only when its predecessor's writer is known dead. It gets what that one stored and
// inherits its votes: its first effects (of Agreement::start) store them in its own segment, before anything else. It
// inherits no role: the group names it anew, or not. Until it has caught up with a peer it counts as down: it votes on
// configurations, but neither leads nor accepts. Without `predecessor` (its segment is missing or unreadable: unknown,
// not empty) it has no vote either, ever. An incarnation can die before it has inherited: the last thing that start()
// stores is a kConfiguration, so `predecessor` is the newest incarnation before this one that is incarnation 1 or whose view has
// a configuration (may_be_inherited in replication/stable/view.h).
struct GroupConfig {
  int replicas = 3;
  int voters = 3;
  EndpointId self{};
  Incarnation incarnation{1};
  AgreementBounds bounds{};
  std::shared_ptr<const StableView> predecessor{};  // of the incarnation before; ignored if incarnation is 1
  // True: when leader and acceptor are both stopped, so that nobody knows what was accepted, name one of them in
  // Effects::fence instead of waiting for it.
  bool fencing = false;
};

struct Outgoing {
  bool broadcast = false;  // to every other replica, by the current tree; `to` is then ignored
  EndpointId to;
  std::shared_ptr<const std::string> message;  // shared between destinations
  // An answer to a broadcast of `to`: equal ones of several replicas may travel as one, and reach receive() as if each
  // had come alone, a little later.
  bool combine = false;
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

// What could not be done here, and who leads as far as this replica knows.
struct Rejection {
  enum class Kind : std::uint8_t { kCommand, kRead };
  enum class Why : std::uint8_t { kNotLeader, kBusy };
  Kind kind;
  Why why;
  std::uint64_t id;  // the id that came with propose or read
  EndpointId leader;
};

// The outcome of one or more inputs. The caller executes the fields in this order and never skips one:
//  1. stable            stored in the own segment before any message of the same batch leaves
//  2. messages          handed to the transport; may be dropped only when a peer's backlog is full
//  3. decided           contiguous ascending slots, each once over the life of this object
//  4. reads_ready, rejected, snapshot_needed, suspects, salvage_needed, history_needed, fence
// Inputs append; the caller clears between executions.
struct Effects {
  std::vector<StableWrite> stable;
  std::vector<Outgoing> messages;
  std::vector<Decision> decided;
  std::vector<ReadReady> reads_ready;
  std::vector<Rejection> rejected;
  bool snapshot_needed = false;  // this replica is further behind than any answering peer's command log
  std::vector<EndpointId> suspects;  // took too long to answer, since the last time that it did; for logs
  // Segments of dead incarnations whose content is needed: the caller looks, and answers each with salvaged(). It may
  // ask for the same one again.
  std::vector<ReplicaIncarnation> salvage_needed;
  // No peer tells slots that are known to be decided: the caller answers with history() for each segment that it has, of
  // any incarnation of anybody.
  bool history_needed = false;
  // With GroupConfig::fencing only. Its end would resolve what stopped replicas hold up: the caller may kill it, and
  // reports peer_died once the kernel says so. Never acted upon by the protocol itself.
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

  // Once, before any other input: what must be stored and said at the start of this incarnation.
  virtual void start(Effects&) {}

  // A batch of commands (one slot's worth, at most kBatchBytesMax) that this replica's clients want decided.
  // `proposal_id` names it in a Rejection. A leader always takes it while can_propose() is true; 2PC may still reject
  // it later (kBusy), if a participant votes no: then it was not carried out. No Rejection does not mean it will be.
  // REQUIRES: command is not null and has 1 to kBatchBytesMax bytes.
  virtual void propose(std::uint64_t proposal_id, std::shared_ptr<const std::string> command, Effects& effects) = 0;

  // True if this replica leads and its window has room.
  virtual bool can_propose() const = 0;

  // A linearizable read: answered by a ReadReady or a Rejection with the same id.
  virtual void read(std::uint64_t read_id, Effects& effects) = 0;

  // A message from a peer. Malformed, foreign or outdated ones are refused, counted, and change nothing.
  virtual void receive(EndpointId from, std::string_view message, Effects& effects) = 0;

  // Time passes. The replica ticks every kTickMs while wants_tick(), and then only.
  virtual void tick(Effects& effects) = 0;
  virtual bool wants_tick() const = 0;

  // The backlog to `peer` overflowed and has now drained: messages to it may have been lost; tell it what it needs to
  // notice what it missed.
  virtual void peer_drained(EndpointId peer, Effects& effects) = 0;

  // Slots below `applied` are applied here. Lets 2PC acknowledge a commit, and everyone trim.
  virtual void applied(Slot applied, Effects& effects) = 0;

  // Slots below `keep_from` are applied here and on every voter (or, under pressure, on fewer: then the others need a
  // peer's command log or a snapshot): votes and proposals for them may be trimmed. What is not trimmed is kept. If every
  // replica may die at once, `keep_from` lies below a snapshot that outlives them (docs/agreement.md).
  virtual void compact(Slot keep_from, Effects& effects) = 0;

  // A snapshot holds the effects of all slots below `first_undecided`, and the caller has installed it: decisions go on
  // from there. No effect if that much is decided here already. What lies below it this replica can carry to nobody: so the
  // snapshot must outlive all replicas, as one below which entries are trimmed must.
  virtual void installed(Slot first_undecided, Effects& effects) = 0;

  // Whether a snapshot is being loaded here: until its end this replica knows less than it will, and leads nobody.
  virtual void loading(bool) {}

  // ---- Death, salvage, suspicion --------------------------------------------------------------------------------------

  // The kernel says that `name`'s writer thread is dead: it will never store or send again, and its segment is final.
  // Never to be called on a suspicion. In any order with messages that it sent before; repetitions change nothing.
  virtual void peer_died(ReplicaIncarnation, Effects&) {}

  // An incarnation that is new to this replica runs now. So its predecessors are dead. (Messages say the same.)
  virtual void peer_started(ReplicaIncarnation, Effects&) {}

  // What the segment of `name` holds, asked for by Effects::salvage_needed. Null: it is missing or unreadable, which
  // says nothing of what was stored; a segment that its owner is known never to have opened is an empty view instead.
  // May come unasked, repeatedly, or late. REQUIRES: name's writer is known dead and the view was read after that.
  virtual void salvaged(ReplicaIncarnation, const StableView*, Effects&) {}

  // What some segment holds, or recently held, asked for by Effects::history_needed. Its writer may live.
  virtual void history(const StableView&, Effects&) {}

  // A client asks here for what only a leader can do, so it has waited for the leader in vain, or never knew it. (A
  // rejected propose or read says the same.) Only this makes a replica doubt a leader: it asks it for a sign of life, and
  // wants ticks until one comes. An idle group exchanges no message, however long.
  virtual void client_waits(Effects&) {}

  // Moves a role to voter `to` by configuration, as `ingotctl move` asks. kLeader: asked of `to` itself; kAcceptor: asked
  // of the leader. OK: begun; the status shows when it is done, and somebody else may win. Otherwise nothing has changed,
  // and the message says why in a sentence: FAILED_PRECONDITION (not now, or not here), INVALID_ARGUMENT (never).
  [[nodiscard]] virtual absl::Status move(Role, EndpointId, Effects&) {
    return absl::FailedPreconditionError("roles cannot be moved in this agreement");
  }

  // All of what it says of itself; built anew at each call.
  virtual AgreementStatus status() const = 0;

  // Parts of the status that are asked for with each command and each answer, as status() has them.
  virtual Role role() const { return status().role; }
  virtual EndpointId leader() const { return status().leader; }
  virtual EndpointId acceptor() const { return status().acceptor; }
  virtual Ballot ballot() const { return status().ballot; }
  virtual Slot next_slot() const { return status().proposed; }

  // Bytes of stable records that receive(message) may store at most; 0: none that could fill the store. Without room
  // for them the message is not handed over: it is lost, and its sender repeats it.
  virtual std::size_t stored_bytes_max(std::string_view message) const = 0;

  // Messages refused so far, by any cause.
  virtual std::uint64_t refused_messages() const = 0;
};

// What those who run an agreement, or keep what it stored, have to know of it.
struct AgreementTraits {
  // What was voted for was chosen. So a dead incarnation's votes are not inherited but read as history
  // (Effects::history_needed), and its segment is kept until a published snapshot has what it holds.
  bool votes_are_history = false;
};

// First byte of every message between replicas and between clients and replicas: who handles it.
enum class MessageClass : std::uint8_t {
  kAgreement = 1,  // Agreement::receive
  kRequest = 2,    // a client's request to a replica (replication/requests/request.h)
  kResponse = 3,   // a replica's answer to a client
  kRelayed = 4,    // a broadcast that travels along a tree (replication/replica/trees/relay.h)
  kCombined = 5,   // equal answers of several replicas, on their way up a tree (replication/replica/trees/combiner.h)
  kSnapshot = 6,   // a replica that is far behind, and a peer with a snapshot (replication/replica/snapshots/messages.h)
};

}  // namespace ingot
