#include "replication/replica/core.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "replication/agreement/limits.h"

namespace ingot::inline replication_replica {

namespace {

// Drops the predecessor's stored state, which is large: agreement has already taken what it needs.
GroupConfig without_predecessor(GroupConfig group) {
  group.predecessor.reset();
  return group;
}

}  // namespace

ReplicaCore::ReplicaCore(Parts parts)
    : group_(without_predecessor(std::move(parts.protocol.group))),
      agreement_(std::move(parts.protocol.agreement)),
      bounds_(parts.bounds),
      fences_(parts.fences),
      page_(*parts.page),
      discard_(std::move(parts.discard)),
      peers_(group_.self, group_.replicas, parts.pages),
      broadcaster_(group_, std::move(parts.trees), *parts.storage.state, parts.pages, *agreement_, peers_, queue_),
      applier_(broadcaster_.state()),
      context_{group_, parts.endpoints, *agreement_, applier_, *parts.storage.state, page_, peers_, queue_, effects_},
      snapshots_({.group = group_,
                  .bounds = bounds_.snapshots,
                  .segment_bytes = parts.storage.stable->capacity_bytes(),
                  .kept = parts.storage.keeps_snapshots,
                  .ready = std::move(parts.channel_ready),
                  .discard = discard_},
                 applier_, peers_, queue_),
      compaction_(context_, *parts.storage.stable, snapshots_, bounds_),
      proposals_(*agreement_, bounds_),
      requests_(context_, proposals_, parts.sink),
      log_(group_.self, [this](const std::string& line) { queue_.log(line); }),
      stall_(bounds_.blocked_after_ns) {
  agreement_->start(effects_);
  starting_ = !parts.storage.snapshot.file.empty();
  if (starting_) load(std::move(parts.storage.snapshot));
  for (std::uint16_t peer = 0; peer < parts.incarnations.size(); ++peer) {
    const ReplicaIncarnation name{EndpointId(peer), parts.incarnations[peer]};
    if (name.id != group_.self && name.incarnation > Incarnation(1)) agreement_->peer_started(name, effects_);
  }
  status_ = agreement_->status();
}

// ---- Inputs --------------------------------------------------------------------------------------------------------

void ReplicaCore::receive(EndpointId from, std::string_view message) {
  ++inputs_;
  if (peers_.is_replica(from)) peers_.note_alive(from);
  switch (static_cast<MessageClass>(message.front())) {
    case MessageClass::kAgreement:
      return receive_agreement(from, message);
    case MessageClass::kRequest:
      requests_.receive(from, message, starting_, now_ns_);
      answering_ = answering_ || requests_.has_new_standing();
      return;
    case MessageClass::kRelayed:
    case MessageClass::kCombined: {
      const auto deliver = [this](EndpointId root, std::string_view inner) { receive_agreement(root, inner); };
      if (!broadcaster_.receive(from, message, deliver)) ++refused_;
      return;
    }
    case MessageClass::kSnapshot:
      return snapshots_.receive(from, message);
    default:
      ++refused_;
  }
}

void ReplicaCore::receive_agreement(EndpointId from, std::string_view message) {
  if (!compaction_.has_room_for(agreement_->stored_bytes_max(message))) return;
  agreement_->receive(from, message, effects_);
}

void ReplicaCore::peer_died(ReplicaIncarnation peer) {
  ++inputs_;
  peers_.died(peer.id);
  snapshots_.peer_gone(peer.id);
  broadcaster_.peer_died(peer.id);
  agreement_->peer_died(peer, effects_);
}

// Silent: so the leader answers at once what the stopped replica was to answer. It may have been silent before, and
// agreement may now wait for its turn: a round without inputs would not start the ticks.
void ReplicaCore::peer_stopped(ReplicaIncarnation peer) {
  const bool news = !peers_.silent(peer.id);
  peers_.suspect(peer.id);
  agreement_->peer_stopped(peer, effects_);
  if (news || (next_tick_ns_ == Pollable::kNever && agreement_->wants_tick())) ++inputs_;
}

void ReplicaCore::peer_continued(ReplicaIncarnation peer) {
  peers_.note_alive(peer.id);
  agreement_->peer_continued(peer, effects_);
}

void ReplicaCore::peer_connected(ReplicaIncarnation peer) {
  ++inputs_;
  peers_.connected(peer, applier_.applied());
  agreement_->peer_started(peer, effects_);
  agreement_->peer_drained(peer.id, effects_);  // the new incarnation has none of the messages sent so far
}

void ReplicaCore::channel_drained(EndpointId peer) {
  ++inputs_;
  if (peers_.is_replica(peer)) agreement_->peer_drained(peer, effects_);
}

void ReplicaCore::segment_read(ReplicaIncarnation of, const StableView* view) {
  acted_ = acted_ || view != nullptr;
  worked_ = worked_ || acted_;
  agreement_->salvaged(of, view, effects_);
}

void ReplicaCore::history_read(const StableView& view) { agreement_->history(view, effects_); }

void ReplicaCore::fenced(ReplicaIncarnation peer, bool killed) {
  if (killed) page_[ReplicaCounter::kFenced].add(1);
  log_.fenced(peer, killed);
}

// ---- A round -------------------------------------------------------------------------------------------------------

void ReplicaCore::begin_round(std::uint64_t now_ns, bool channels_wait) {
  INGOT_CHECK(stage_ == Stage::kIdle && current_ == Current::kNone, "one round after the other");
  now_ns_ = now_ns;
  snapshot_work_ = 0;
  apply_steps_ = query_steps_ = StepBudget(bounds_.apply_steps);
  const bool ticked = tick();
  tick_state();
  propose();
  acted_ = !effects_.empty() || is_unfinished();
  had_inputs_ = std::exchange(inputs_, 0) > 0;
  worked_ = had_inputs_ || ticked || acted_;
  channels_wait_ = channels_wait;
  round_was_idle_ = !channels_wait && idle();
  stage_ = round_was_idle_ ? Stage::kIdle : Stage::kInputs;
}

// True if the round's stages would find nothing to do: nearly every round of an idle replica, and most rounds of a busy
// one.
bool ReplicaCore::idle() const {
  if (worked_ || !queue_.empty() || decoded_ || snapshots_.serves()) return false;
  return !wants_history_ && wanted_segments_.empty() && now_ns_ < broadcaster_.check_due_ns();
}

bool ReplicaCore::tick() {
  if (!tick_due(now_ns_)) return false;
  next_tick_ns_ = Pollable::kNever;
  note_room();
  if (agreement_->wants_tick()) agreement_->tick(effects_);
  broadcaster_.tick();
  snapshots_.tick();
  compaction_.compact();
  return true;
}

Ballot ReplicaCore::leads() const {
  return agreement_->role() == Role::kLeader ? agreement_->ballot() : Ballot(0);
}

// A tick is a command like those of clients, behind all that have come before it. If the queue is full, it is dropped,
// and the clock proposes it again.
void ReplicaCore::tick_state() {
  if (tick_watch_.missed(now_ns_)) {
    agreement_->client_waits(effects_);
    ++inputs_;
  }
  if (now_ns_ < clock_.due_ns() || !clock_.look(context_.state.clock(), leads(), now_ns_)) return;
  const std::string payload = encode(clock_.tick());
  Request request;
  request.client = kClockClient;
  request.sequence = request.acknowledged_below = clock_.tick().number;
  request.reply_to = request.responder = kNoEndpoint;
  request.payload = payload;
  proposals_.note_leadership([this](const Request& command) { requests_.turn_away(command); });
  proposals_.add(request);
  ++inputs_;
}

void ReplicaCore::note_clock() {
  const StateMachine::Clock state = context_.state.clock();
  clock_.note(state, leads(), now_ns_);
  tick_watch_.note(state, leads() != Ballot(0), now_ns_);
}

void ReplicaCore::propose() {
  if (proposals_.idle()) return;
  proposals_.note_leadership([this](const Request& command) { requests_.turn_away(command); });
  const int slots = proposals_.propose([this] { return compaction_.group_has_room(); }, effects_);
  if (slots > 0) page_[ReplicaCounter::kProposedSlots].add(static_cast<std::uint64_t>(slots));
}

const Action* ReplicaCore::next() {
  while (current_ == Current::kNone) {
    if (!queue_.empty() && queue_.front(action_)) {
      current_ = Current::kQueued;
    } else if (stage_ == Stage::kIdle) {
      return nullptr;
    } else if (progress_.under_way) {
      if (!next_effect() && !next_apply()) finish_effects();
    } else if (answering_) {
      answering_ = requests_.answer_read(now_ns_);
    } else if (decoded_ && !applier_.under_way() && offer_install()) {
      current_ = Current::kInstall;
    } else if (!effects_.empty()) {
      begin_effects();
    } else if (next_apply()) {
      // What earlier rounds have left: the messages and votes of this one went first.
    } else if (slots_applied_) {
      after_slots();
    } else if (!query_steps_.spent() && requests_.go_on_with_query(now_ns_, query_steps_)) {
      // Its answer, if it has one now, is in the queue.
    } else {
      enter_next_stage();
    }
  }
  return &action_;
}

void ReplicaCore::done() {
  switch (std::exchange(current_, Current::kNone)) {
    case Current::kQueued:
      return queue_.pop(action_.kind);
    case Current::kEffect:
      return effect_done();
    case Current::kInstall:
      return install();
    case Current::kChannels:
      return;
    case Current::kNone:
      INGOT_CHECK(false, "an action is done that was not handed out");
  }
}

void ReplicaCore::enter_next_stage() {
  switch (stage_) {
    case Stage::kInputs:
      stage_ = Stage::kSegments;
      return order_segments();
    case Stage::kSegments:
      stage_ = Stage::kFlush;
      if (channels_wait_) offer_channels(Action::Kind::kFlush);
      return;
    case Stage::kFlush:
      stage_ = Stage::kSnapshots;
      if (worked_ || inputs_ > 0 || snapshots_.serves()) poll_snapshots();
      return;
    case Stage::kSnapshots:
      stage_ = Stage::kTrees;
      return check_trees();
    case Stage::kTrees:
      stage_ = Stage::kWake;
      return offer_channels(Action::Kind::kWake);
    case Stage::kWake:
      stage_ = Stage::kCompaction;
      worked_ = std::exchange(inputs_, 0) > 0 || snapshot_work_ > 0 || worked_;
      if (!worked_) return;
      peers_.note_returns();
      return compaction_.compact();
    case Stage::kCompaction:
      if (worked_) look_at_status();
      if (worked_) note_clock();
      stage_ = Stage::kIdle;
      return;
    case Stage::kStart:
    case Stage::kIdle:
      stage_ = Stage::kIdle;
      return;
  }
}

void ReplicaCore::offer_channels(Action::Kind kind) {
  action_ = {.kind = kind};
  current_ = Current::kChannels;
}

// Called once a round, so that a segment that agreement asks for several times is read once.
void ReplicaCore::order_segments() {
  const Slot from = applier_.applied();
  if (std::exchange(wants_history_, false)) queue_.order({.kind = Action::Kind::kReadHistory, .slot = from});
  for (const ReplicaIncarnation& of : wanted_segments_) {
    queue_.order({.kind = Action::Kind::kReadSegment, .incarnation = of, .slot = from});
  }
  wanted_segments_.clear();
}

void ReplicaCore::check_trees() {
  const auto missed = [this](EndpointId peer) { agreement_->peer_drained(peer, effects_); };
  // If the queue is full, the change is dropped, and the monitor wishes for it again.
  const auto change = [this](const Request& request) {
    proposals_.note_leadership([this](const Request& command) { requests_.turn_away(command); });
    proposals_.add(request);
  };
  const bool working = had_inputs_ || inputs_ > 0 || acted_ || snapshot_work_ > 0;  // a tick alone is not work
  broadcaster_.check(now_ns_, working, change, missed);
  propose();
}

// ---- Time -----------------------------------------------------------------------------------------------------------

// Ticks make sure that a leader that waits for room notices it, that a full store is trimmed while nothing is proposed,
// that a snapshot is installed when it is decoded, and that a group that stands still says so.
bool ReplicaCore::wants_tick() const {
  if (agreement_->wants_tick() || broadcaster_.wants_tick() || snapshots_.wants_tick()) return true;
  if (loading_ || compaction_.wants_tick()) return true;
  return proposals_.held_up() || stall_.pending();
}

void ReplicaCore::set_ticking(bool wanted, std::uint64_t now_ns) {
  if (!wanted) {
    next_tick_ns_ = Pollable::kNever;
  } else if (next_tick_ns_ == Pollable::kNever) {
    next_tick_ns_ = now_ns + bounds_.tick_ns;
  }
}

std::uint64_t ReplicaCore::deadline_ns() const {
  return std::min({next_tick_ns_, broadcaster_.check_due_ns(), clock_.due_ns(), tick_watch_.due_ns()});
}

}  // namespace ingot::replication_replica
