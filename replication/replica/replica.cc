#include "replication/replica/replica.h"

#include <algorithm>

#include "core/check.h"
#include "core/limits.h"
#include "core/wire.h"

namespace ingot {

namespace {
constexpr std::uint64_t kNsPerMs = 1'000'000;
constexpr EndpointId kNobody{0xffff};  // answers a command that no client waits for
}

std::unique_ptr<TreeRouter> Replica::make_trees(Parts& parts) {
  if (!parts.trees || is_plain_star(parts.trees->plan)) return nullptr;
  return std::make_unique<TreeRouter>(parts.group, *std::move(parts.trees), *parts.state, parts.pages);
}

Replica::Replica(Parts parts)
    : parts_(std::move(parts)),
      peers_(parts_.group.self, std::exchange(parts_.segments, {}), parts_.pages),
      log_(parts_.group.self, parts_.log),
      trees_(make_trees(parts_)),
      applier_(trees_ ? trees_->state() : *parts_.state),
      loader_(parts_.load_in_background ? SnapshotLoader::How::kBackground : SnapshotLoader::How::kInline, applier_,
              parts_.helper_cores),
      outbox_(*parts_.transport),
      snapshots_(snapshot_options(), applier_) {
  parts_.agreement->start(effects_);
  begins_ = !parts_.snapshot.file.empty();
  if (begins_) load(std::exchange(parts_.snapshot, {}));
  meet_peers();
  execute_effects();
  publish();
}

int Replica::poll(std::uint64_t now_ns) {
  if (worked_at_ns_ != 0) busy_ns_ += now_ns - worked_at_ns_;
  int work = parts_.transport->probe(
      [this](EndpointId from, std::span<const std::byte> message) { receive(from, as_view(message)); },
      kProbeMessagesMax);
  received_messages_ += static_cast<std::uint64_t>(work);
  work += poll_incarnations();
  if (deaths_told() != deaths_seen_) poll_peers();
  const bool ticked = tick_if_due(now_ns);
  propose_batches();
  bool acted = !effects_.empty();
  execute_effects();
  acted = read_segments() || acted;
  work += outbox_.flush([this](EndpointId peer) {
    if (peer.value() < parts_.group.replicas) parts_.agreement->peer_drained(peer, effects_);
  });
  execute_effects();
  if (work > 0 || acted || ticked || snapshots_.serves()) work += poll_snapshots();
  poll_trees(now_ns, work > 0 || acted);
  const bool fragments_wait = parts_.transport->flush();
  if (parts_.transport->parts_moved()) ++work;
  if (work > 0 || acted || ticked) {
    peers_.note_returns();
    compact();
    tell_of_status(now_ns);
    publish();
  }
  worked_at_ns_ = work > 0 || acted ? now_ns : 0;
  const bool others_wait = (trees_ && trees_->wants_tick()) || snapshots_wait();
  if (!parts_.agreement->wants_tick() && outbox_.empty() && !fragments_wait && !others_wait) {
    next_tick_ns_ = kNever;
  } else if (next_tick_ns_ == kNever) {
    next_tick_ns_ = now_ns + kTickMs * kNsPerMs;
  }
  return work + (acted ? 1 : 0);
}

bool Replica::readable() {
  return parts_.transport->readable() || deaths_told() != deaths_seen_ ||
         (parts_.incarnations != nullptr && parts_.incarnations->waiting() && parts_.incarnations->readable());
}

std::uint64_t Replica::deadline_ns() const {
  return trees_ ? std::min(next_tick_ns_, trees_->check_due_ns()) : next_tick_ns_;
}

void Replica::receive(EndpointId from, std::string_view message) {
  if (from.value() < parts_.group.replicas) silent_ &= ~(std::uint64_t{1} << from.value());
  switch (static_cast<MessageClass>(message.front())) {
    case MessageClass::kAgreement:
      return receive_agreement(from, message);
    case MessageClass::kRequest:
      receive_request(from, message);
      return;
    case MessageClass::kRelayed:
    case MessageClass::kCombined:
      return receive_by_tree(from, message);
    case MessageClass::kSnapshot:
      return snapshots_.receive(from, message);
    default:
      ++refused_requests_;
  }
}

void Replica::receive_by_tree(EndpointId from, std::string_view message) {
  const auto send = [this](EndpointId to, std::string_view bytes) { outbox_.send(to, bytes); };
  const auto deliver = [this](EndpointId root, std::string_view inner) { receive_agreement(root, inner); };
  if (!trees_ || from.value() >= parts_.group.replicas || !trees_->receive(from, message, send, deliver)) {
    ++refused_requests_;
  }
}

void Replica::receive_request(EndpointId from, std::string_view message) {
  const auto request = decode_request(message);
  const bool valid = request && request->reply_to == from && from.value() >= parts_.group.replicas &&
                     request->responder.value() < parts_.group.replicas && request->payload.size() <= kRequestBytesMax;
  if (!valid) {
    ++refused_requests_;
    return;
  }
  switch (request->kind) {
    case Request::Kind::kCommand:
      return receive_command(*request);
    case Request::Kind::kLinearizableQuery:
      return receive_linearizable_query(*request);
    case Request::Kind::kLocalQuery:
      return receive_local_query(*request);
    case Request::Kind::kDigest:
      return respond(from, request->sequence, Response::Status::kOk, WireWriter().u64(applier_.digest()).take());
    case Request::Kind::kMove:
      return receive_move(*request);
  }
}

// Tree changes are commands, too, and only replicas propose them.
void Replica::receive_command(const Request& request) {
  if (request.client == kTreeClient || is_tree_change(request.payload)) {
    ++refused_requests_;
    return;
  }
  const AgreementStatus status = parts_.agreement->status();
  note_leadership(status);
  if (status.role != Role::kLeader) {
    respond(request.reply_to, request.sequence, Response::Status::kNotLeader, {});
    parts_.agreement->client_waits(effects_);
  } else if (batcher_.add(request) == Batcher::Added::kFull) {
    respond(request.reply_to, request.sequence, Response::Status::kBusy, {});
  }
}

void Replica::receive_linearizable_query(const Request& request) {
  const auto read_id = reads_.add({request.reply_to, request.sequence, std::string(request.payload)});
  if (!read_id) {
    respond(request.reply_to, request.sequence, Response::Status::kBusy, {});
    return;
  }
  parts_.agreement->read(*read_id, effects_);
}

// From the state as it is; but one that has begun again serves nobody what it was long ago.
void Replica::receive_local_query(const Request& request) {
  if (begins_) {
    return respond(request.reply_to, request.sequence, Response::Status::kBusy, {});
  }
  respond(request.reply_to, request.sequence, Response::Status::kOk, parts_.state->query(request.payload));
}

bool Replica::tick_if_due(std::uint64_t now_ns) {
  if (now_ns < next_tick_ns_) return false;
  next_tick_ns_ = kNever;
  poll_peers();
  if (parts_.agreement->wants_tick()) parts_.agreement->tick(effects_);
  if (trees_) trees_->tick([this](EndpointId to, std::string_view bytes) { outbox_.send(to, bytes); });
  snapshots_.tick();
  compact();
  return true;
}

bool Replica::may_propose() const {
  if (batcher_.empty() || window_bytes_ >= kWindowBytesMax || !parts_.agreement->can_propose()) return false;
  if (!segments_have_room()) return false;
  return batcher_.full_batch() || static_cast<int>(window_.size()) < parts_.pipeline_slots;
}

void Replica::propose_batches() {
  if (batcher_.empty() && window_.empty()) return;
  note_leadership(parts_.agreement->status());
  while (may_propose()) {
    auto batch = batcher_.take();
    const Slot slot = parts_.agreement->status().proposed;
    window_.emplace_back(slot, batch->size());
    window_bytes_ += batch->size();
    (*parts_.page)[ReplicaCounter::kProposedSlots].add(1);
    parts_.agreement->propose(next_proposal_id_++, std::move(batch), effects_);
  }
}

// Executing may cause new effects (an applied slot lets 2PC acknowledge): go on until there are none.
void Replica::execute_effects() {
  while (!effects_.empty()) {
    std::swap(executing_, effects_);
    for (const EndpointId suspect : executing_.suspects) silent_ |= std::uint64_t{1} << suspect.value();
    store(executing_.stable);
    send(executing_.messages);
    for (const Decision& decision : executing_.decided) {
      if (decision.slot >= applier_.applied()) apply(decision);  // else a snapshot that was installed meanwhile has it
    }
    if (!executing_.decided.empty()) after_apply();
    for (const ReadReady& read : executing_.reads_ready) reads_.ready(read.read_id, read.applied_needed);
    for (const Rejection& rejection : executing_.rejected) reject(rejection);
    wanted_segments_.insert(wanted_segments_.end(), executing_.salvage_needed.begin(), executing_.salvage_needed.end());
    // Not while a snapshot is being loaded: that may be all that is missing.
    wants_history_ = wants_history_ || (executing_.history_needed && !loader_.running());
    tell_operator(executing_);
    // Not while one is being loaded: if that one is not enough, agreement says so again.
    if (executing_.snapshot_needed && !loader_.running()) snapshots_.needed(parts_.agreement->status());
    executing_.clear();
    answer_reads();
    propose_batches();
  }
}

void Replica::after_apply() {
  parts_.agreement->applied(applier_.applied(), effects_);
  if (!trees_) return;
  trees_->after_apply([this](EndpointId to, std::string_view bytes) { outbox_.send(to, bytes); },
                      [this](EndpointId peer) { parts_.agreement->peer_drained(peer, effects_); });
}

// Invariant: whatever a leader proposes, and a new one recovers, fits (segments_have_room()), so a store never fails.
void Replica::store(const std::vector<StableWrite>& writes) {
  for (const StableWrite& write : writes) {
    INGOT_CHECK(parts_.stable->store(write), "the stable segment is full although the window is bounded");
  }
}

void Replica::send(std::vector<Outgoing>& messages) {
  for (Outgoing& outgoing : messages) {
    if (outgoing.broadcast) {
      broadcast(outgoing.message);
    } else if (outgoing.combine && tree_is_whole(outgoing.to)) {
      trees_->answer(outgoing.to, *outgoing.message,
                     [this](EndpointId to, std::string_view bytes) { outbox_.send(to, bytes); });
    } else {
      outbox_.send(outgoing.to, std::move(outgoing.message));
    }
  }
}

void Replica::poll_trees(std::uint64_t now_ns, bool working) {
  if (!trees_) return;
  const AgreementStatus status = parts_.agreement->status();
  if (status.role != Role::kLeader) return trees_->rest();
  note_leadership(status);
  const auto change = trees_->check(now_ns, working, status.acceptor,
                                   [this](EndpointId peer) { parts_.agreement->peer_drained(peer, effects_); });
  if (!change) return execute_effects();
  Request request;
  request.client = kTreeClient;
  request.sequence = trees_->next_version();
  request.acknowledged_below = request.sequence;
  request.reply_to = request.responder = kNobody;
  request.payload = *change;
  batcher_.add(request);  // if it is full, the monitor wishes again
  propose_batches();
  execute_effects();
}

void Replica::apply(const Decision& decision) {
  while (!window_.empty() && window_.front().first <= decision.slot) {
    window_bytes_ -= window_.front().second;
    window_.pop_front();
  }
  snapshots_.applied(decision.slot, stable_record_bytes(decision.command->size()));
  int commands = 0;
  applier_.apply(decision.slot, *decision.command, [&](const Applier::Applied& applied) {
    ++commands;
    batcher_.decided(applied.request);
    if (answers(applied.request)) {
      respond(applied.request.reply_to, applied.request.sequence, applied.status, applied.result);
    }
  });
  const auto bucket = std::lower_bound(kBatchBuckets.begin(), kBatchBuckets.end(), commands) - kBatchBuckets.begin();
  parts_.page->batch_commands[bucket].add(1);
  parts_.page->batch_commands_sum.add(commands);
}

void Replica::reject(const Rejection& rejection) {
  if (rejection.kind == Rejection::Kind::kCommand) {
    batcher_.forget_proposals();  // the clients try again after their time-outs
    window_.clear();
    window_bytes_ = 0;
    return;
  }
  if (const auto read = reads_.remove(rejection.id)) {
    const bool busy = rejection.why == Rejection::Why::kBusy;
    respond(read->reply_to, read->sequence, busy ? Response::Status::kBusy : Response::Status::kNotLeader, {});
  }
}

void Replica::answer_reads() {
  reads_.take_answerable(applier_.applied(), [this](const PendingRead& read) {
    respond(read.reply_to, read.sequence, Response::Status::kOk, parts_.state->query(read.query));
  });
}

void Replica::respond(EndpointId to, std::uint64_t sequence, Response::Status status, std::string_view payload) {
  if (to.value() < parts_.group.replicas || to.value() >= parts_.endpoints) return;
  const AgreementStatus agreement = parts_.agreement->status();
  Response response;
  response.status = status;
  response.sequence = sequence;
  response.slot = applier_.applied();
  response.leader = agreement.leader;
  response.acceptor = agreement.acceptor;
  response.payload = payload;
  outbox_.send(to, std::make_shared<const std::string>(encode(response)));
  (*parts_.page)[ReplicaCounter::kAnsweredRequests].add(1);
}

void Replica::publish() {
  const AgreementStatus status = parts_.agreement->status();
  ReplicaPage& page = *parts_.page;
  page[ReplicaCounter::kDecidedSlots].set(status.decided.value());
  page[ReplicaCounter::kAppliedCommands].set(applier_.applied_commands());
  page[ReplicaCounter::kDuplicateCommands].set(applier_.duplicate_commands());
  page[ReplicaCounter::kRefusedCommands].set(applier_.refused_commands());
  page[ReplicaCounter::kMalformedBatches].set(applier_.malformed_batches());
  page[ReplicaCounter::kRefusedMessages].set(parts_.agreement->refused_messages() + refused_requests_ +
                                            refused_snapshots_ + snapshots_.refused());
  page[ReplicaCounter::kBacklogDrops].set(outbox_.dropped_messages());
  page[ReplicaCounter::kBacklogBytes].set(outbox_.waiting_bytes());
  page[ReplicaCounter::kRole].set(static_cast<std::uint64_t>(status.role));
  page[ReplicaCounter::kEpoch].set(status.epoch.value());
  page[ReplicaCounter::kBallot].set(status.ballot.value());
  page[ReplicaCounter::kLeader].set(status.leader.value());
  page[ReplicaCounter::kAcceptor].set(status.acceptor.value());
  page[ReplicaCounter::kBlocked].set(status.blocked ? 1 : 0);
  page[ReplicaCounter::kBlockedBy].set(status.blocked_by.value());
  page[ReplicaCounter::kBlockedWhy].set(static_cast<std::uint64_t>(status.why));
  page[ReplicaCounter::kBlockedFrom].set(status.blocked_from.value());
  page[ReplicaCounter::kBlockedTo].set(status.blocked_to.value());
  page[ReplicaCounter::kBlockedSinceNs].set(log_.blocked_since_ns());
  page[ReplicaCounter::kDigest].set(applier_.digest());
  page[ReplicaCounter::kHandledMessages].set(received_messages_ + outbox_.sent_messages());
  page[ReplicaCounter::kBusyNs].set(busy_ns_);
  page[ReplicaCounter::kStableUsedBytes].set(parts_.stable->used_bytes());
  page[ReplicaCounter::kSnapshotsMade].set(snapshots_.made());
  page[ReplicaCounter::kSnapshotPauseNs].set(snapshots_.pauses_ns());
  if (trees_) {
    trees_->publish(status.acceptor, page);
  } else {
    page[ReplicaCounter::kTreeParent].set(status.acceptor.value());
  }
  parts_.publish_state(page);
  // Last, with release: whoever sees the slot by get_acquire sees the gauges of at least that slot.
  page[ReplicaCounter::kAppliedSlots].set_release(applier_.applied().value());
}

}  // namespace ingot
