#include "replication/client/session_client.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/limits.h"
#include "core/wire.h"
#include "replication/pages/page_status.h"

namespace ingot {

namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;
constexpr std::uint64_t kScanMs = kRetryScanMs;
constexpr std::uint64_t kPauseUs = 100;  // after a first refusal: a new leader is found in less than a millisecond
constexpr std::uint64_t kSuspectMs = 20;  // of a leader's silence; then one request at a time asks another replica, too
constexpr std::uint64_t kQueryBit = std::uint64_t{1} << 63;  // queries have sequences of their own, outside the session
constexpr int kIncarnationShift = 40;  // sequences of one incarnation: a million a second for twelve days
constexpr std::uint64_t kIncarnationMask = (std::uint64_t{1} << (63 - kIncarnationShift)) - 1;

Request::Kind wire_kind(RequestKind kind) {
  switch (kind) {
    case RequestKind::kCommand:
      return Request::Kind::kCommand;
    case RequestKind::kLinearizableQuery:
      return Request::Kind::kLinearizableQuery;
    case RequestKind::kLocalQuery:
      return Request::Kind::kLocalQuery;
    case RequestKind::kDigest:
      return Request::Kind::kDigest;
    case RequestKind::kMove:
      return Request::Kind::kMove;
  }
  INGOT_CHECK(false, "a request kind outside its enumeration");
}

// Below all sequences of that incarnation of the front end.
std::uint64_t first_sequence(Incarnation incarnation) {
  return ((incarnation.value() - 1) & kIncarnationMask) << kIncarnationShift;
}

// Why a request was not carried out; `blocked`: the sentence of who cannot have anything decided.
ReplicaReply::Outcome refusal(const std::string& blocked) {
  return blocked.empty() ? ReplicaReply::Outcome::kOverloaded : ReplicaReply::Outcome::kBlocked;
}

bool for_leader(RequestKind kind) {
  return kind == RequestKind::kCommand || kind == RequestKind::kLinearizableQuery;
}

}  // namespace

ShmReplicaClient::ShmReplicaClient(Transport& transport, Options options)
    : transport_(transport),
      options_(std::move(options)),
      outbox_(transport),
      leader_(options_.leader),
      acceptor_(options_.acceptor),
      returns_at_(static_cast<std::size_t>(options_.replicas)),
      next_command_(first_sequence(options_.incarnation) + 1),
      next_query_(kQueryBit | first_sequence(options_.incarnation)) {}

bool ShmReplicaClient::admit(RequestKind kind, std::size_t bytes) {
  if (pending_.size() >= kFrontEndRequestsMax || pending_bytes_ + bytes > kFrontEndBytesMax) return false;
  // The session remembers a window of results: a command that waits for long must not fall out of it.
  return kind != RequestKind::kCommand || next_command_ - acknowledged_below() < kSessionWindow;
}

void ShmReplicaClient::submit(RequestKind kind, std::string payload, Callback callback, EndpointId replica) {
  const std::uint64_t now_ns = options_.now_ns();
  bool wake = false;
  std::string blocked;
  {
    absl::MutexLock lock(&mutex_);
    if (!admit(kind, payload.size())) {
      blocked = why_blocked(now_ns);
    } else {
      const bool command = kind == RequestKind::kCommand;
      const std::uint64_t sequence = command ? next_command_++ : next_query_++;
      if (command) command_order_.push_back(sequence);
      pending_bytes_ += payload.size();
      Pending& pending = pending_[sequence];
      pending.kind = kind;
      pending.payload = std::move(payload);
      pending.callback = std::move(callback);
      pending.wanted = replica;
      pending.deadline_ns = now_ns + kRequestTimeoutMs * kNsPerMs;
      quiet_since_ns_ = now_ns;
      attempt(sequence, pending, now_ns);
      transport_.flush();
      wake = next_timer_ns_ == kNever;
      if (wake) next_timer_ns_ = now_ns + kRetryScanMs * kNsPerMs;
      callback = nullptr;
    }
  }
  if (wake) options_.wake_loop();
  if (callback) callback({refusal(blocked), Slot(), blocked});
}

EndpointId ShmReplicaClient::choose_target(const Pending& pending) const {
  if (for_leader(pending.kind)) return leader_;
  if (pending.wanted != kAnyReplica) return pending.wanted;
  return living_from(options_.nearest.value() + pending.attempts);
}

// The acceptor is the first to know a decision. A retry asks others in turn: the first choice may be dead or slow.
EndpointId ShmReplicaClient::choose_responder(const Pending& pending) const {
  return living_from(acceptor_.value() + pending.attempts);
}

bool ShmReplicaClient::dead(EndpointId replica) const { return (dead_ >> replica.value() & 1) != 0; }

bool ShmReplicaClient::lagging(EndpointId replica) const { return (lagging_ >> replica.value() & 1) != 0; }

// The first from there on that is not known to be away; if all are, that is not known to be dead.
EndpointId ShmReplicaClient::living_from(int place) const {
  for (const std::uint64_t without : {lagging_, dead_}) {
    for (int i = 0; i < options_.replicas; ++i) {
      const EndpointId replica(static_cast<std::uint16_t>((place + i) % options_.replicas));
      if ((without >> replica.value() & 1) == 0) return replica;
    }
  }
  return EndpointId(static_cast<std::uint16_t>(place % options_.replicas));
}

void ShmReplicaClient::attempt(std::uint64_t sequence, Pending& pending, std::uint64_t now_ns) {
  send(sequence, pending, choose_target(pending));
  ++pending.attempts;
  pending.sent_ns = now_ns;
  pending.retry_ns = now_ns + (std::uint64_t{kRetryMs} << std::min(pending.attempts - 1, kRetryDoublings)) * kNsPerMs;
}

void ShmReplicaClient::send(std::uint64_t sequence, Pending& pending, EndpointId target) {
  Request request;
  request.kind = wire_kind(pending.kind);
  request.client = options_.session;
  request.sequence = sequence;
  request.acknowledged_below = pending.kind == RequestKind::kCommand ? acknowledged_below() : 0;
  request.reply_to = transport_.self();
  request.responder = choose_responder(pending);
  request.payload = pending.payload;
  pending.target = target;
  ++pending.open_attempts;
  outbox_.send(target, std::make_shared<const std::string>(encode(request)));
}

// The leader keeps what it was sent, and answers when it can: so it stays the target.
void ShmReplicaClient::ask_another(std::uint64_t sequence, Pending& pending) {
  asked_ = living_from(asked_.value() + 1);
  if (asked_ == leader_) asked_ = living_from(asked_.value() + 1);
  if (asked_ == leader_) return;
  const EndpointId target = pending.target;
  send(sequence, pending, asked_);
  pending.target = target;
}

bool ShmReplicaClient::told_of_deaths() const {
  return options_.daemon != nullptr && options_.daemon->deaths.get() != deaths_seen_;
}

// What the page says of another incarnation than the channel is with, is of no interest: of an earlier one, it is known; a later
// one will be announced. The incarnation is read first, with acquire: it is set after its state.
void ShmReplicaClient::poll_deaths(std::uint64_t now_ns) {
  deaths_seen_ = options_.daemon->deaths.get_acquire();  // pairs with the supervisor's release after the states
  for (std::uint16_t id = 0; id < options_.replicas; ++id) {
    const EndpointId replica(id);
    const ProcessEntry& entry = options_.daemon->replicas[id];
    const std::uint64_t incarnation = entry.incarnation.get_acquire();
    const auto state = static_cast<ProcessState>(entry.state.get());
    const bool same_incarnation = options_.incarnations == nullptr || options_.incarnations->incarnation(replica).value() == incarnation;
    if (state == ProcessState::kDead && same_incarnation) replica_gone(replica, now_ns);
  }
}

// What a dead replica was asked, nobody answers: it is asked again at once.
void ShmReplicaClient::replica_gone(EndpointId replica, std::uint64_t now_ns) {
  if (dead(replica)) return;
  dead_ |= std::uint64_t{1} << replica.value();
  lagging_ |= std::uint64_t{1} << replica.value();
  if (options_.incarnations != nullptr) {
    options_.incarnations->gone(replica);
  } else {
    transport_.peer_gone(replica);
  }
  outbox_.forget(replica);
  if (dead(leader_)) leader_ = living_from(leader_.value());
  for (auto& [sequence, pending] : pending_) {
    if (pending.target == replica) pending.retry_ns = now_ns;
  }
  if (!pending_.empty()) next_timer_ns_ = now_ns;
}

void ShmReplicaClient::replica_died(EndpointId replica, Incarnation incarnation) {
  {
    absl::MutexLock lock(&mutex_);
    if (options_.incarnations != nullptr && options_.incarnations->incarnation(replica) != incarnation) return;
    replica_gone(replica, options_.now_ns());
  }
  options_.wake_loop();
}

void ShmReplicaClient::begin_incarnation(PeerIncarnation announced) {
  INGOT_CHECK(options_.incarnations != nullptr, "a client without peer incarnations learns of no new ones");
  absl::MutexLock lock(&mutex_);
  const EndpointId replica = announced.endpoint;
  if (replica.value() >= options_.replicas || !options_.incarnations->announce(std::move(announced))) return;
  replica_gone(replica, options_.now_ns());
}

int ShmReplicaClient::poll_incarnations() {
  if (options_.incarnations == nullptr || !options_.incarnations->waiting()) return 0;
  return options_.incarnations->poll([this](EndpointId replica, Incarnation) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    outbox_.revive(replica);
    dead_ &= ~(std::uint64_t{1} << replica.value());
    returns_at_[replica.value()] = newest_;
    if (options_.pages.empty()) lagging_ &= ~(std::uint64_t{1} << replica.value());
  });
}

void ShmReplicaClient::note_returns() {
  for (std::uint16_t id = 0; lagging_ != dead_ && id < options_.pages.size(); ++id) {
    const EndpointId replica(id);
    if (dead(replica) || !lagging(replica)) continue;
    const ReplicaPage& page = *options_.pages[id];
    // Acquire: what the page shows after that is of this incarnation.
    if (page.incarnation.get_acquire() != options_.incarnations->incarnation(replica).value()) continue;
    const Slot applied(page[ReplicaCounter::kAppliedSlots].get());
    if (applied >= returns_at_[id]) lagging_ &= ~(std::uint64_t{1} << id);
  }
}

std::uint64_t ShmReplicaClient::acknowledged_below() {
  while (!command_order_.empty() && !pending_.contains(command_order_.front())) command_order_.pop_front();
  return command_order_.empty() ? next_command_ : command_order_.front();
}

int ShmReplicaClient::poll(std::uint64_t now_ns) {
  int work = 0;
  {
    absl::MutexLock lock(&mutex_);
    if (told_of_deaths()) poll_deaths(now_ns);
    work = transport_.probe(
        [&](EndpointId from, std::span<const std::byte> message) ABSL_NO_THREAD_SAFETY_ANALYSIS {
          receive(from, as_view(message), now_ns);
        },
        kProbeMessagesMax);
    work += poll_incarnations();
    if (work > 0) note_returns();
    work += outbox_.flush([](EndpointId) {});  // what was dropped is sent again by its retry
    if (now_ns >= next_timer_ns_) check_timers(now_ns);
    transport_.flush();
    if (transport_.parts_moved()) ++work;
  }
  for (Completion& done : completions_) done.callback({done.outcome, done.slot, done.payload});
  completions_.clear();
  return work;
}

bool ShmReplicaClient::readable() {
  absl::MutexLock lock(&mutex_);
  return transport_.readable() || told_of_deaths() ||
         (options_.incarnations != nullptr && options_.incarnations->waiting() && options_.incarnations->readable());
}

std::uint64_t ShmReplicaClient::deadline_ns() const {
  absl::MutexLock lock(&mutex_);
  return next_timer_ns_;
}

std::size_t ShmReplicaClient::in_flight() const {
  absl::MutexLock lock(&mutex_);
  return pending_.size();
}

void ShmReplicaClient::receive(EndpointId from, std::string_view message, std::uint64_t now_ns) {
  if (from.value() >= options_.replicas) return;
  const auto response = decode_response(message);
  if (!response) return;
  const auto found = pending_.find(response->sequence);
  if (found == pending_.end()) return;  // an answer to an attempt that a retry has overtaken
  switch (response->status) {
    case Response::Status::kOk:
      if (response->slot >= newest_) {
        newest_ = response->slot;
        if (follow(response->leader)) next_timer_ns_ = now_ns;  // the others go there, too
        if (response->acceptor.value() < options_.replicas) acceptor_ = response->acceptor;
      }
      return complete(found->first, ReplicaReply::Outcome::kOk, response->slot, response->payload);
    case Response::Status::kNotLeader:
    case Response::Status::kBusy:
      return refused(found->first, found->second, from, *response, now_ns);
    case Response::Status::kResultGone:
    case Response::Status::kRefused:
      return complete(found->first, ReplicaReply::Outcome::kUnknown, response->slot, {});
  }
}

// Returns whether somebody else leads now, as far as is known.
bool ShmReplicaClient::follow(EndpointId leader) {
  if (leader.value() >= options_.replicas || dead(leader) || leader == leader_) return false;
  leader_ = leader;
  return true;
}

void ShmReplicaClient::refused(std::uint64_t sequence, Pending& pending, EndpointId from, const Response& response,
                               std::uint64_t now_ns) {
  if (pending.open_attempts > 0) --pending.open_attempts;
  if (response.status == Response::Status::kBusy) {
    // A leader takes no read while it changes its acceptor, a joining replica none before it has its state: that is
    // soon over.
    const bool reads = pending.kind == RequestKind::kLinearizableQuery || pending.kind == RequestKind::kLocalQuery;
    if (reads) return pause(pending, now_ns);
    if (pending.open_attempts == 0) refuse(sequence, response.slot, now_ns);
    return;
  }
  // Who does not lead, and names itself or the dead, knows nothing: the next one may.
  const bool is_new = response.leader != from && follow(response.leader);
  if (!is_new && leader_ == from) leader_ = living_from(from.value() + 1);
  if (is_new) next_timer_ns_ = now_ns;  // the others go there, too
  if (is_new && !pending.redirected) {
    pending.redirected = true;  // once: two that name each other would send it to and fro
    attempt(sequence, pending, now_ns);
  } else if (from == pending.target) {
    pause(pending, now_ns);
  }
}

// Tries again soon: it was refused, not met with silence.
void ShmReplicaClient::pause(Pending& pending, std::uint64_t now_ns) {
  pending.attempts = std::max(0, pending.attempts - 1);
  const std::uint64_t pause_ns = std::min((kPauseUs * 1000) << std::min(pending.refusals++, 10), kScanMs * kNsPerMs);
  pending.retry_ns = std::min(pending.retry_ns, now_ns + pause_ns);
  next_timer_ns_ = std::min(next_timer_ns_, pending.retry_ns);
}

std::string ShmReplicaClient::why_blocked(std::uint64_t now_ns) const {
  return who_is_blocked(options_.pages, options_.daemon, leader_, now_ns);
}

// Nothing of it was, or will be, carried out.
void ShmReplicaClient::refuse(std::uint64_t sequence, Slot slot, std::uint64_t now_ns) {
  const std::string blocked = why_blocked(now_ns);
  complete(sequence, refusal(blocked), slot, blocked);
}

void ShmReplicaClient::complete(std::uint64_t sequence, ReplicaReply::Outcome outcome, Slot slot,
                                std::string_view payload) {
  auto node = pending_.extract(sequence);
  pending_bytes_ -= node.mapped().payload.size();
  completions_.push_back({std::move(node.mapped().callback), outcome, slot, std::string(payload)});
}

// What waits in the outbox is not sent again: it has not even left. What was sent to somebody who leads no more, as was
// heard since, is sent to the leader.
// Invariant: while a request is in flight the timer runs; it goes on for kQuietMs after the last one, so that a busy
// front end does not wake its loop for every request, and then stops, so that an idle one sleeps.
void ShmReplicaClient::check_timers(std::uint64_t now_ns) {
  std::vector<std::uint64_t> expired;
  bool asked = false;  // another replica, by this look
  std::uint64_t next_ns = now_ns + kScanMs * kNsPerMs;
  for (auto& [sequence, pending] : pending_) {
    if (now_ns >= pending.deadline_ns) {
      expired.push_back(sequence);
      continue;
    }
    if (pending.kind == RequestKind::kMove) continue;  // sent once
    const bool due = now_ns >= pending.retry_ns || (for_leader(pending.kind) && pending.target != leader_);
    const std::uint64_t suspect_ns = pending.sent_ns + kSuspectMs * kNsPerMs;
    const bool silent = for_leader(pending.kind) && now_ns >= suspect_ns;
    if (due && !outbox_.waits_for(choose_target(pending))) {
      pending.redirected = false;
      attempt(sequence, pending, now_ns);
    }
    if (silent && !asked) {
      asked = true;
      ask_another(sequence, pending);
    }
    next_ns = std::min(next_ns, std::max(pending.retry_ns, now_ns + kPauseUs * 1000));
    if (!silent && for_leader(pending.kind)) next_ns = std::min(next_ns, suspect_ns);
  }
  for (const std::uint64_t sequence : expired) {
    if (pending_[sequence].open_attempts == 0) refuse(sequence, Slot(), now_ns);
    else complete(sequence, ReplicaReply::Outcome::kUnknown, Slot(), {});
  }
  if (!pending_.empty()) quiet_since_ns_ = now_ns;
  next_timer_ns_ = now_ns - quiet_since_ns_ > kQuietMs * kNsPerMs ? kNever : next_ns;
}

}  // namespace ingot
