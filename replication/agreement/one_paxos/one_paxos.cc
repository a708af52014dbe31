#include "replication/agreement/one_paxos/one_paxos.h"

#include <algorithm>
#include <utility>

#include "core/rule.h"
#include "replication/agreement/stored.h"
#include "replication/stable/view.h"

namespace ingot::inline replication_agreement_one_paxos {

OnePaxos::OnePaxos(const GroupConfig& group)
    : state_(group), takeover_(state_), recovery_(state_), reconfiguration_(state_, takeover_, recovery_) {}

// ---- Commands and reads ---------------------------------------------------------------------------------------------

void OnePaxos::propose(std::uint64_t proposal_id, std::shared_ptr<const std::string> command, Effects& effects) {
  state_.leader.propose(proposal_id, std::move(command), effects);
  if (!state_.leader.leading()) reconfiguration_.client_waits(effects);
  settle(effects);
}

void OnePaxos::read(std::uint64_t read_id, Effects& effects) {
  state_.leader.read(read_id, effects);
  if (!state_.leader.leading()) reconfiguration_.client_waits(effects);
  settle(effects);
}

void OnePaxos::client_waits(Effects& effects) {
  reconfiguration_.client_waits(effects);
  settle(effects);
}

// ---- Messages -------------------------------------------------------------------------------------------------------

void OnePaxos::receive(EndpointId from, std::string_view bytes, Effects& effects) {
  const auto message = state_.mailbox.open(from, bytes);
  if (!message) return;
  const ReplicaIncarnation sender{from, message->incarnation};
  state_.peers.note_alive(sender);
  reconfiguration_.note_alive(sender);
  if (message->ballot.value() > state_.log.tip()) state_.log.ask(from, effects);
  const bool led = state_.leader.leading() || state_.leader.frozen();
  handle(from, *message, effects);
  if (led && !state_.leader.leading() && !state_.leader.frozen()) state_.log.ask(from, effects);  // newest leader
  call_for_history(effects);
  settle(effects);
  state_.catch_up.step(from, effects);
}

// Called when asking all peers in turn brought nothing. Slots decided before this epoch are in segments: of dead
// replicas, and of former acceptors that dropped them from memory.
void OnePaxos::call_for_history(Effects& effects) {
  if (!INGOT_RULE("history")) return;
  if (effects.snapshot_needed && state_.catch_up.lacks_trimmed()) effects.history_needed = true;
}

// Handles messages to oneself, and the consequences of new knowledge, until there are none.
void OnePaxos::settle(Effects& effects) {
  do {
    while (const auto message = state_.mailbox.take_own()) handle(state_.group.self, *message, effects);
    if (!caught_up()) catch_up_with_group(effects);
    reconfiguration_.step(effects);
  } while (state_.mailbox.has_own());
}

void OnePaxos::handle(EndpointId from, const Message& message, Effects& effects) {
  switch (message.type) {
    case MessageType::kAccept:
      if (!state_.acceptor.on_accept(from, message, state_.learner.decided(), effects)) {
        state_.learner.note_known(message.slot);
      }
      return;
    case MessageType::kLearn:
      return on_learn(message, effects);
    case MessageType::kChosen:
      return on_chosen(message, effects);
    case MessageType::kAbandon:
      state_.learner.note_known(Slot(message.number));
      return state_.leader.on_abandon(message, effects);
    case MessageType::kReadProbe:
      return state_.acceptor.on_read_probe(from, message, effects);
    case MessageType::kReadConfirm:
      return state_.leader.on_read_confirm(from, message, effects);
    case MessageType::kFetch:
      return state_.catch_up.answer_fetch(from, message, effects);
    case MessageType::kFetched:
      state_.learner.note_known(Slot(message.number));
      return state_.catch_up.receive_fetched(
          from, message,
          [&](Slot slot, const Learner::Command& command) { state_.learn(slot, command, effects); }, effects);
    case MessageType::kCommitHint:
      return state_.learner.note_known(message.slot);
    default:
      handle_roles(from, message, effects);
  }
}

// If this replica proposed the command, it shares the proposal's object instead of copying the bytes.
void OnePaxos::on_learn(const Message& learn, Effects& effects) {
  if (state_.learner.knows(learn.slot)) return;
  const Proposal* proposal = state_.leader.proposal(learn.slot);
  state_.learn(learn.slot, command_of(learn, proposal ? proposal->command : nullptr), effects);
}

// A proposal under another ballot may be another command. Without one under this ballot the slot is only known to be
// decided, and its command is fetched (CatchUp::step).
void OnePaxos::on_chosen(const Message& chosen, Effects& effects) {
  state_.learner.note_known(chosen.slot.next());
  if (state_.learner.knows(chosen.slot)) return;
  const Proposal* proposal = state_.leader.proposal(chosen.slot);
  if (!proposal || (!state_.leader.owns(chosen) && INGOT_RULE("chosen-is-own"))) return;
  const Learner::Command command = proposal->command;  // learning closes the proposal
  state_.learn(chosen.slot, command, effects);
}

void OnePaxos::handle_roles(EndpointId from, const Message& message, Effects& effects) {
  switch (message.type) {
    case MessageType::kPrepare:
      return state_.acceptor.on_prepare(from, message, effects);
    case MessageType::kPromise:
      return takeover_.on_promise(from, message, effects);
    case MessageType::kStepDown:
      return reconfiguration_.on_step_down(from, message, effects);
    case MessageType::kSteppedDown:
      return recovery_.on_stepped_down(from, message, effects);
    case MessageType::kPing:
      return reconfiguration_.on_ping(from, message, effects);
    case MessageType::kPong:
      return on_pong(from, message, effects);
    case MessageType::kSuspectLeader:
      return reconfiguration_.client_waits(effects);
    case MessageType::kHello:
      return on_hello(from, message, effects);
    case MessageType::kConfigPrepare:
    case MessageType::kConfigPromise:
    case MessageType::kConfigAccept:
    case MessageType::kConfigAccepted:
    case MessageType::kConfigReject:
    case MessageType::kConfigDecided:
    case MessageType::kConfigFetch:
      return state_.log.receive(from, message, effects);
    default:
      state_.mailbox.refuse();
  }
}

// ---- Incarnations ---------------------------------------------------------------------------------------------------

void OnePaxos::start(Effects& effects) {
  state_.log.start(effects);
  if (state_.group.incarnation > Incarnation(1)) send_hello(effects);
  settle(effects);
}

void OnePaxos::send_hello(Effects& effects) {
  state_.mailbox.broadcast({.type = MessageType::kHello, .epoch = state_.log.epoch(),
                            .ballot = Ballot(state_.log.tip()), .slot = state_.learner.decided(),
                            .verdict = caught_up()}, effects);
}

void OnePaxos::on_hello(EndpointId from, const Message& hello, Effects& effects) {
  state_.peers.set_caught_up(from, hello.verdict);
  state_.log.tell(from, hello.ballot.value(), effects);
  reconfiguration_.pong(from, 0, effects);
  state_.catch_up.send_commit_hint(from, effects);
}

void OnePaxos::on_pong(EndpointId from, const Message& pong, Effects& effects) {
  state_.log.tell(from, pong.ballot.value(), effects);
  state_.peers.set_caught_up(from, pong.verdict);
  if (caught_up() || from.value() >= state_.group.voters) return;
  known_elsewhere_ = std::max(known_elsewhere_, pong.slot);
  commit_hints_.insert(from);
  state_.learner.note_known(known_elsewhere_);
}

// A new incarnation has caught up when a majority of the voters, itself included, has reported its decided slot, and it
// has reached that. If all replicas died, that slot may be low: the rest is in their segments, for a new leader.
void OnePaxos::catch_up_with_group(Effects& effects) {
  const ReplicaSet own = ReplicaSet::of(state_.group.self) & ReplicaSet::first(state_.group.voters);
  const bool majority = 2 * (commit_hints_ | own).size() > state_.group.voters;
  if (loading_ || !majority || state_.learner.decided() < known_elsewhere_) return;
  state_.peers.set_caught_up(state_.group.self, true);
  send_hello(effects);
}

void OnePaxos::peer_died(ReplicaIncarnation name, Effects& effects) {
  if (name.id.value() >= state_.group.replicas || name.id == state_.group.self) return;
  state_.peers.died(name);
  settle(effects);
}

void OnePaxos::peer_started(ReplicaIncarnation name, Effects& effects) {
  if (name.id.value() >= state_.group.replicas || name.id == state_.group.self) return;
  state_.peers.note_alive(name);
  settle(effects);
}

void OnePaxos::peer_stopped(ReplicaIncarnation name, Effects& effects) {
  const bool other = name.id.value() < state_.group.replicas && name.id != state_.group.self;
  if (other && state_.peers.doubt(name)) settle(effects);
}

// It may now get a role that another one, doubted still, has.
void OnePaxos::peer_continued(ReplicaIncarnation name, Effects& effects) {
  if (name.id.value() < state_.group.replicas && state_.peers.end_doubt(name)) settle(effects);
}

void OnePaxos::salvaged(ReplicaIncarnation name, const StableView* view, Effects& effects) {
  if (name.id.value() >= state_.group.replicas) return;
  state_.peers.died(name);
  if (takeover_.active()) recovery_.salvaged(name, view, effects);
  settle(effects);
}

void OnePaxos::history(const StableView& view, Effects& effects) {
  state_.learn_history(view, effects);
  settle(effects);
}

absl::Status OnePaxos::move(Role role, EndpointId to, Effects& effects) {
  absl::Status status = reconfiguration_.move(role, to, effects);
  settle(effects);
  return status;
}

// ---- Time, compaction, status ---------------------------------------------------------------------------------------

void OnePaxos::tick(Effects& effects) {
  state_.leader.tick(effects);
  state_.catch_up.tick(effects);
  call_for_history(effects);
  reconfiguration_.tick(effects);
  if (!caught_up() && hello_timer_.due()) {
    commit_hints_.clear();  // a voter that answered may have died since, and its knowledge with it
    known_elsewhere_ = Slot(0);
    send_hello(effects);
  }
  settle(effects);
}

bool OnePaxos::wants_tick() const {
  return state_.leader.wants_tick() || state_.catch_up.wants_tick() || reconfiguration_.wants_tick() || !caught_up();
}

// A Ping also serves as a commit hint.
void OnePaxos::peer_drained(EndpointId peer, Effects& effects) {
  if (peer == state_.now().acceptor.id) state_.leader.resend(effects);
  state_.log.resend(peer, effects);
  if (state_.log.tip() > 1) reconfiguration_.ping(peer, effects);
  else state_.catch_up.send_commit_hint(peer, effects);
}

void OnePaxos::applied(Slot, Effects&) {}

void OnePaxos::compact(Slot keep_from, Effects& effects) {
  keep_from = std::min(keep_from, state_.learner.decided());
  state_.leader.trim(keep_from, effects);
  state_.acceptor.trim(keep_from, effects);
}

// A snapshot does not tell who proposed its slots. So a leader that installs one asks the acceptor again before it
// proposes: it may have been overtaken, and its window would imply decisions that are not its own. One that is asking
// already waits on: it will go on from the first undecided slot, without its proposals below.
void OnePaxos::installed(Slot first_undecided, Effects& effects) {
  const bool skips = first_undecided > state_.learner.decided();
  state_.learner.installed(first_undecided, effects);
  state_.catch_up.installed();
  if (skips && state_.leader.leading() && INGOT_RULE("installed-asks-again")) takeover_.begin(effects);
  state_.leader.advance(state_.learner.decided(), effects);
  settle(effects);
}

Role OnePaxos::role() const {
  if (leads()) return Role::kLeader;
  const bool accepts = state_.now().acceptor == state_.self() && state_.acceptor.epoch() == state_.log.epoch();
  return accepts ? Role::kAcceptor : Role::kReplica;
}

bool OnePaxos::leads() const {
  return state_.leads(state_.self()) && (state_.leader.leading() || state_.leader.frozen() || takeover_.active());
}

EndpointId OnePaxos::leader() const { return state_.now().leader.id; }
EndpointId OnePaxos::acceptor() const { return state_.now().acceptor.id; }
Ballot OnePaxos::ballot() const { return Ballot(state_.log.tip()); }

Slot OnePaxos::next_slot() const {
  return leads() ? state_.leader.next_slot() : std::max(state_.learner.end(), state_.acceptor.end());
}

std::size_t OnePaxos::stored_bytes_max(std::string_view message) const {
  return ingot::stored_bytes_max(message, MessageType::kAccept, state_.group.bounds);
}

AgreementStatus OnePaxos::status() const {
  AgreementStatus status;
  const ConfigEntry& now = state_.now();
  status.role = role();
  status.leader = now.leader.id;
  status.leader_incarnation = now.leader.incarnation;
  status.acceptor = now.acceptor.id;
  status.acceptor_incarnation = now.acceptor.incarnation;
  status.epoch = state_.log.epoch();
  status.ballot = ballot();
  status.configuration = state_.log.tip();
  status.proposed = next_slot();
  status.decided = state_.learner.decided();
  reconfiguration_.describe(status);
  return status;
}

}  // namespace ingot::replication_agreement_one_paxos
