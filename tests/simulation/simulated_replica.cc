#include "tests/simulation/simulated_replica.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "core/check.h"
#include "core/rule.h"
#include "core/wire.h"
#include "replication/agreement/messages.h"
#include "replication/agreement/move_request.h"
#include "replication/replica/snapshots/format.h"
#include "replication/requests/request.h"
#include "tests/replication/agreement/trace.h"
#include "tests/simulation/action_text.h"

namespace ingot::simulation {

namespace {

constexpr std::uint64_t kMoveSequence = ~std::uint64_t{0};  // not a sequence of any client

std::uint64_t mask_of(EndpointId peer) { return std::uint64_t{1} << peer.value(); }

bool changes_something(Action::Kind kind) {
  return kind != Action::Kind::kFlush && kind != Action::Kind::kWake && kind != Action::Kind::kLog;
}

// Nothing, if it is no message of the agreement, or goes by a tree.
std::optional<MessageType> type_of(const GatheredMessage& message) {
  constexpr std::size_t kTypeOffset = 2;
  if (static_cast<MessageClass>(message.front()) != MessageClass::kAgreement) return std::nullopt;
  if (message.size() <= kTypeOffset) return std::nullopt;
  return static_cast<MessageType>(message.part(kTypeOffset, 1).front());
}

}  // namespace

SimulatedReplica::SimulatedReplica(Setup setup)
    : group_(setup.group),
      incarnation_(setup.incarnation),
      schedule_(setup.schedule),
      environment_(*setup.environment),
      segment_(std::move(setup.segment)),
      segments_(std::move(setup.segments)),
      transport_(self(), environment_.network, schedule_.poll_messages),
      outbox_(transport_, schedule_.outbox),
      store_(self(), environment_.checkers.effects, kv::Quota(schedule_.quota_bytes)),
      core_(core_parts(setup)),
      died_(static_cast<std::size_t>(setup.group.replicas), Incarnation(0)) {
  for (std::uint16_t peer = 0; peer < group_.replicas; ++peer) {
    present_.push_back(segments_.newest(EndpointId(peer)).incarnation);
    if (EndpointId(peer) != group_.self && !environment_.accepts(peer, name())) transport_.close(EndpointId(peer));
  }
  ReplicaPage& page = *environment_.pages[group_.self.value()];
  core_.publish();
  page.incarnation.set_release(incarnation_.value());
}

ReplicaCore::Parts SimulatedReplica::core_parts(Setup& setup) {
  ReplicaCore::Parts parts;
  parts.protocol = {group_, std::move(setup.agreement)};
  parts.storage = {.state = &store_, .stable = segment_.get(), .keeps_snapshots = true};
  if (setup.snapshot != nullptr) parts.storage.snapshot = {setup.snapshot->bytes, setup.snapshot};
  parts.endpoints = environment_.network.endpoints();
  parts.page = environment_.pages[group_.self.value()].get();
  for (std::uint16_t id = 0; id < group_.replicas; ++id) {
    parts.pages.push_back(environment_.pages[id].get());
    parts.incarnations.push_back(segments_.newest(EndpointId(id)).incarnation);
  }
  parts.bounds = schedule_.bounds;
  parts.trees = std::move(setup.trees);
  parts.fences = setup.fences;
  parts.channel_ready = [this](EndpointId peer) { return !outbox_.waits_for(peer); };
  parts.sink = this;
  return parts;
}

// ---- Rounds ---------------------------------------------------------------------------------------------------------

void SimulatedReplica::poll(TimeNs now) {
  now_ = now;
  busy_until_ = now + schedule_.poll_cost_ns;
  if (core_.in_round() && !finish_round()) return;  // crashed or stopped in that round
  for (const Notice& notice : std::exchange(notices_, {})) handle(notice);
  read_messages();
  go_over_to_peers();
  look_at_keeper();
  core_.begin_round(now, !outbox_.empty());
  finish_round();
}

void SimulatedReplica::look_at_keeper() {
  core_.snapshot_published(environment_.published_below());
  core_.kept_segments(environment_.kept_segments());
}

bool SimulatedReplica::has_work() const { return works_ || core_.in_round() || !notices_.empty() || may_flush(); }

bool SimulatedReplica::may_flush() const {
  if (outbox_.empty()) return false;
  for (std::uint16_t peer = 0; peer < environment_.network.endpoints(); ++peer) {
    if (outbox_.waits_for(EndpointId(peer)) && transport_.has_room(EndpointId(peer))) return true;
  }
  return false;
}

bool SimulatedReplica::finish_round() {
  while (const Action* action = core_.next()) {
    if ((changes_something(action->kind) || !deferred_.empty()) && environment_.at_crash_point(self())) return false;
    const auto sent = action->kind == Kind::kSend ? type_of(action->message) : std::nullopt;
    if (!execute(*action)) return false;
    core_.done();
    if (action->kind == Kind::kApply || action->kind == Kind::kApplyOn) {
      environment_.checkers.digests.applied(self(), applied(), digest());
    }
    if (sent && environment_.has_sent(self(), *sent)) return false;
  }
  store_deferred();
  works_ = core_.work() > 0;
  if (core_.worked()) core_.publish();
  if (!core_.round_was_idle()) core_.set_ticking(core_.wants_tick() || !outbox_.empty(), now_);
  return true;
}

// ---- What comes in --------------------------------------------------------------------------------------------------

void SimulatedReplica::handle(const Notice& notice) {
  switch (notice.kind) {
    case Notice::Kind::kDied:
      return note_death(notice.name);
    case Notice::Kind::kStopped:
      return takes_part(notice.name) ? core_.peer_stopped(notice.name) : void();
    case Notice::Kind::kContinued:
      return takes_part(notice.name) ? core_.peer_continued(notice.name) : void();
    case Notice::Kind::kBegins:
      return peer_begins(notice);
    case Notice::Kind::kSegment:
      return read_segment(notice);
    case Notice::Kind::kHistory:
      if (const SimulatedSegment* segment = segments_.find(notice.name)) {
        core_.history_read(segment->model().read(notice.slot));
      }
      return;
    case Notice::Kind::kReleased:
      return segments_.keep(notice.name.id, environment_.kept_incarnations(notice.name.id));
    case Notice::Kind::kWritten:
      return notice.snapshot ? core_.snapshot_written(notice.snapshot) : core_.snapshot_failed();
    case Notice::Kind::kDecoded:
      return core_.snapshot_decoded(SnapshotLoader::decode(core_.applier(), std::exchange(loading_, {}).file));
    case Notice::Kind::kMove:
      return ask_to_move(notice);
  }
}

// As `ingotctl move` asks, through a client's endpoint.
void SimulatedReplica::ask_to_move(const Notice& notice) {
  const EndpointId client(static_cast<std::uint16_t>(group_.replicas));
  const std::string payload = encode_move({notice.role, notice.to});
  Request request;
  request.kind = RequestKind::kMove;
  request.sequence = kMoveSequence;
  request.reply_to = client;
  request.responder = group_.self;
  request.payload = payload;
  moves_.push_back(notice.fault);
  core_.receive(client, encode(request));
}

// The world takes the answers to moves; clients must not get them.
bool SimulatedReplica::is_move_answer(const Action& action) {
  if (moves_.empty() || action.to.value() < group_.replicas) return false;
  const auto response = decode_response(as_view(action.message.body));
  if (!response || response->sequence != kMoveSequence) return false;
  const auto answer = decode_move_answer(response->payload);
  environment_.move_answered(moves_.front(), answer && answer->ok());
  moves_.erase(moves_.begin());
  return true;
}

bool SimulatedReplica::takes_part(ReplicaIncarnation name) const {
  return present_[name.id.value()] == name.incarnation && (dead_ & mask_of(name.id)) == 0;
}

void SimulatedReplica::peer_died(ReplicaIncarnation name) {
  if ((dead_ & mask_of(name.id)) != 0) return;
  dead_ |= mask_of(name.id);
  transport_.peer_gone(name.id);
  outbox_.forget(name.id);
  core_.peer_died(name);
}

// An incarnation that the channel is not with yet may die, too: that is found when the channel has gone over to it.
void SimulatedReplica::note_death(ReplicaIncarnation name) {
  Incarnation& newest = died_[name.id.value()];
  newest = std::max(newest, name.incarnation);
  if (segments_.newest(name.id).incarnation == name.incarnation) peer_died(name);
}

// A newer incarnation begins, so the one before is dead.
void SimulatedReplica::peer_begins(const Notice& notice) {
  const EndpointId peer = notice.name.id;
  const bool newer = notice.name.incarnation > segments_.newest(peer).incarnation;
  segments_.learn(notice.name, notice.segment);
  segments_.keep(peer, environment_.kept_incarnations(peer));
  if (!newer) return;
  peer_died({peer, present_[peer.value()]});
  begun_ |= mask_of(peer);
}

// As PeerIncarnations does: once all messages of the former incarnation are handled, the channel is with the newest.
void SimulatedReplica::go_over_to_peers() {
  for (std::uint64_t left = begun_; left != 0; left &= left - 1) {
    const EndpointId peer(static_cast<std::uint16_t>(std::countr_zero(left)));
    if (!transport_.settled(peer)) continue;
    const ReplicaIncarnation name = segments_.newest(peer);
    present_[peer.value()] = name.incarnation;
    begun_ &= ~mask_of(peer);
    dead_ &= ~mask_of(peer);
    transport_.open(peer);
    outbox_.revive(peer);
    environment_.gone_over(self(), name);
    core_.peer_connected(name);
    if (died_[peer.value()] == name.incarnation) peer_died(name);
  }
}

// Reads a segment only if its writer is known to be dead by now.
void SimulatedReplica::read_segment(const Notice& notice) {
  if (segments_.released(notice.name)) {
    const StableView view =
        StableView::released(notice.name.id, notice.name.incarnation, environment_.published_below());
    return core_.segment_read(notice.name, &view);
  }
  const SimulatedSegment* segment = segments_.find(notice.name);
  if (segment == nullptr) return core_.segment_read(notice.name, nullptr);
  if (!segment->marked_dead) return;
  const StableView view = segment->model().read(notice.slot);
  core_.segment_read(notice.name, &view);
}

void SimulatedReplica::read_messages() {
  constexpr int kMessagesMax = 1024;
  const int read = transport_.probe(
      [this](EndpointId from, std::span<const std::byte> message) { receive(from, as_view(message)); }, kMessagesMax);
  busy_until_ += static_cast<TimeNs>(read) * schedule_.message_cost_ns;
}

void SimulatedReplica::receive(EndpointId from, std::string_view message) {
  if (environment_.traces() && from.value() < group_.replicas) {
    environment_.trace(std::to_string(self()) + " <- " + std::to_string(from.value()) + "  " +
                        testing::describe_message(message));
  }
  if (left_out == "sessions" && static_cast<MessageClass>(message.front()) == MessageClass::kRequest) {
    auto request = decode_request(message);
    INGOT_CHECK(request, "simulated clients send requests");
    request->client += ++requests_ << kSessionBits;
    return core_.receive(from, encode(*request));
  }
  core_.receive(from, message);
}

// ---- Actions of the core --------------------------------------------------------------------------------------------

bool SimulatedReplica::execute(const Action& action) {
  if (environment_.traces()) environment_.trace(describe(self(), action));
  if (action.kind != Kind::kStore && action.kind != Kind::kSend) store_deferred();
  switch (action.kind) {
    case Kind::kStore:
      return store(*action.write);
    case Kind::kSend:
      send(action);
      return true;
    case Kind::kApply:
      return decide(*action.decision);
    case Kind::kApplyOn:
      return true;
    case Kind::kInstallSnapshot:
      ++environment_.installed;
      environment_.checkers.log.installed(self(), action.slot);
      return environment_.checkers.log.violation().empty();
    case Kind::kFlush:
      outbox_.flush([this](EndpointId peer) {
        if (peer.value() < group_.replicas) core_.channel_drained(peer);
      });
      return true;
    case Kind::kWake:
      return true;
    case Kind::kReadSegment:
      answer_later(Notice::Kind::kSegment, action);
      return true;
    case Kind::kReadHistory:
      read_history(action.slot);
      return true;
    case Kind::kWriteSnapshot:
      write_snapshot();
      return true;
    case Kind::kPublishSnapshot:
      environment_.publish(self(), std::make_shared<const SnapshotServer::File>(*action.file));
      return true;
    case Kind::kLoadSnapshot:
      loading_ = *action.snapshot;
      answer_later(Notice::Kind::kDecoded, action);
      return true;
    case Kind::kFence:
      core_.fenced(action.incarnation, environment_.fence(action.incarnation));
      return true;
    case Kind::kLog:
      return true;
  }
  return true;
}

bool SimulatedReplica::store(const StableWrite& write) {
  if (left_out == "stored-before-sent") {
    deferred_.push_back(write);
    return true;
  }
  environment_.checkers.stable.stores(self(), segment_->model().state(), write);
  if (!segment_->store(write)) environment_.checkers.stable.full(self());
  if (left_out == "history-kept") segment_->model().forget_history();
  return environment_.checkers.stable.violation().empty();
}

void SimulatedReplica::store_deferred() {
  for (const StableWrite& write : std::exchange(deferred_, {})) {
    if (!segment_->store(write)) environment_.checkers.stable.full(self());
  }
}

void SimulatedReplica::send(const Action& action) {
  if (is_move_answer(action)) return;
  const auto message_class = static_cast<MessageClass>(action.message.front());
  if (message_class == MessageClass::kSnapshot) ++environment_.snapshot_messages;
  if (message_class == MessageClass::kRelayed) ++environment_.relayed_messages;
  if (action.shared != nullptr) {
    outbox_.send(action.to, *action.shared);
  } else {
    outbox_.send(action.to, action.message);
  }
}

// The real applier would abort where the checker finds a violation.
bool SimulatedReplica::decide(const Decision& decision) {
  environment_.checkers.log.decided(self(), decision);
  return environment_.checkers.log.violation().empty();
}

void SimulatedReplica::applied(Slot, const Applier::Applied& applied) {
  if (!applied.carried_out || applied.request.client == kTreeClient) return;
  if (applied.request.client == kClockClient) return;
  environment_.checkers.effects.carried_out(
      self(), environment_.operation_of(applied.request.client, applied.request.sequence));
}

// The snapshot is of the state at this moment, however long the writing takes.
void SimulatedReplica::write_snapshot() {
  auto bytes = std::make_shared<std::string>(core_.applier().save());
  bytes->insert(0, snapshot_header(core_.applier().applied(), *bytes));
  const auto name = read_snapshot_header(*bytes);
  INGOT_CHECK(name.ok(), "a snapshot's own header can be read");
  auto file = std::make_shared<const SnapshotServer::File>(SnapshotServer::File{name->name, *bytes, bytes});
  environment_.answer_later(self(), {.kind = Notice::Kind::kWritten, .snapshot = std::move(file)});
}

void SimulatedReplica::answer_later(Notice::Kind kind, const Action& action) {
  environment_.answer_later(self(), {.kind = kind, .name = action.incarnation, .slot = action.slot});
}

void SimulatedReplica::read_history(Slot from) {
  for (std::uint16_t id = 0; id < group_.replicas; ++id) {
    for (const KnownSegments::Known& known : segments_.of(EndpointId(id))) {
      environment_.answer_later(
          self(), {.kind = Notice::Kind::kHistory, .name = {EndpointId(id), known.incarnation}, .slot = from});
    }
  }
}

}  // namespace ingot::simulation
