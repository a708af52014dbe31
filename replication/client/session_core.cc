#include "replication/client/session_core.h"

#include <algorithm>
#include <utility>

#include "replication/requests/floor.h"

namespace ingot::inline replication_client {

namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;
constexpr std::uint64_t kNsPerUs = 1'000;
constexpr int kPauseDoublings = 10;
constexpr std::uint64_t kQueryBit = std::uint64_t{1} << 63;  // queries have sequences of their own, outside the session
constexpr int kIncarnationShift = 40;  // sequences of one incarnation: a million a second for twelve days
constexpr std::uint64_t kIncarnationMask = (std::uint64_t{1} << (63 - kIncarnationShift)) - 1;

// The lower bound of the sequences that this incarnation of the client uses.
std::uint64_t first_sequence(Incarnation incarnation) {
  return ((incarnation.value() - 1) & kIncarnationMask) << kIncarnationShift;
}

}  // namespace

SessionCore::SessionCore(const Options& options)
    : options_(options),
      shown_(options.shown != nullptr ? options.shown : std::make_shared<ShownSlot>()),
      routing_(options.replicas, options.leader, options.acceptor, options.nearest),
      next_command_(first_sequence(options.incarnation) + 1),
      next_query_(kQueryBit | first_sequence(options.incarnation)) {}

std::optional<SessionCore::Action> SessionCore::next() {
  while (actions_taken_ < actions_.size()) {
    auto& action = actions_[actions_taken_++];
    if (auto* answer = std::get_if<Answer>(&action)) return std::move(*answer);
    const Attempt& attempt = std::get<Attempt>(action);
    const auto found = submissions_.find(attempt.sequence);
    if (found != submissions_.end()) return encode_attempt(attempt, found->second);
  }
  actions_.clear();
  actions_taken_ = 0;
  return std::nullopt;
}

SessionCore::Send SessionCore::encode_attempt(const Attempt& attempt, const Submission& submission) {
  Request request;
  request.kind = submission.kind;
  request.client = options_.session;
  request.sequence = attempt.sequence;
  request.acknowledged_below = attempt.acknowledged_below;
  request.reply_to = options_.self;
  request.responder = attempt.responder;
  if (request.kind == RequestKind::kLocalQuery) set_floor(request, submission.floor);
  header_.clear();
  append_header(request, header_);
  return {attempt.to, {as_bytes(header_.view()), as_bytes(submission.payload)}};
}

bool SessionCore::admits(RequestKind kind, std::size_t payload_bytes) {
  const SessionBounds& bounds = options_.bounds;
  if (submissions_.size() >= bounds.requests || payload_bytes_ + payload_bytes > bounds.bytes) return false;
  // Replicas remember a window of the session's results; the oldest command without an answer must stay inside it.
  return kind != RequestKind::kCommand || next_command_ - acknowledged_below() < bounds.window;
}

bool SessionCore::submit(RequestKind kind, std::string payload, Callback& callback, EndpointId wanted,
                         std::uint64_t now_ns) {
  if (!admits(kind, payload.size())) return false;
  forget_old_doubts(now_ns);
  const bool command = kind == RequestKind::kCommand;
  const bool standing = kind == RequestKind::kStandingQuery;
  if (standing && standing_) finish(*standing_, ReplicaReply::Outcome::kUnknown, Slot(), {});
  const std::uint64_t sequence = command ? next_command_++ : next_query_++;
  if (command) command_order_.push_back(sequence);
  payload_bytes_ += payload.size();
  Submission& submission = submissions_[sequence];
  submission.kind = kind;
  submission.payload = std::move(payload);
  submission.callback = std::move(callback);
  submission.wanted = wanted;
  submission.floor = shown_->get();
  submission.deadline_ns = standing ? kNever : now_ns + options_.bounds.timeout_ms * kNsPerMs;
  attempt(sequence, submission, now_ns);
  if (standing) {
    standing_ = sequence;
    return true;
  }
  quiet_since_ns_ = now_ns;
  if (next_timer_ns_ == kNever) next_timer_ns_ = now_ns + options_.bounds.scan_ms * kNsPerMs;
  return true;
}

void SessionCore::attempt(std::uint64_t sequence, Submission& submission, std::uint64_t now_ns) {
  send(sequence, submission, routing_.target(submission.kind, submission.wanted, submission.attempts));
  const int doublings = std::min(submission.attempts, kRetryDoublings);
  ++submission.attempts;
  submission.sent_ns = now_ns;
  submission.retry_ns = now_ns + (options_.bounds.retry_ms << doublings) * kNsPerMs;
  if (submission.kind == RequestKind::kStandingQuery) submission.retry_ns = kNever;
}

// The first replica whose earlier messages have left; if there is none, some time later.
void SessionCore::attempt_standing(std::uint64_t now_ns, absl::FunctionRef<bool(EndpointId)> backlogged) {
  if (now_ns < standing_retry_ns()) return;
  Submission& submission = submissions_[*standing_];
  for (int i = 0; i < options_.replicas; ++i) {
    if (!backlogged(routing_.target(submission.kind, submission.wanted, submission.attempts))) {
      return attempt(*standing_, submission, now_ns);
    }
    ++submission.attempts;
  }
  submission.retry_ns = now_ns + options_.bounds.scan_ms * kNsPerMs;
}

std::uint64_t SessionCore::standing_retry_ns() const {
  return standing_ ? submissions_.at(*standing_).retry_ns : kNever;
}

void SessionCore::send(std::uint64_t sequence, Submission& submission, EndpointId target) {
  submission.target = target;
  submission.responder = routing_.responder(submission.attempts);
  ++submission.open_attempts;
  const bool command = submission.kind == RequestKind::kCommand;
  actions_.emplace_back(Attempt{.sequence = sequence,
                                .to = target,
                                .responder = submission.responder,
                                .acknowledged_below = command ? acknowledged_below() : 0});
}

// Also sends the request to another replica, ever more seldom: ticks may come every pause_us. The leader stays the
// target: it still has the request, and answers when it can.
void SessionCore::ask_another(std::uint64_t sequence, Submission& submission, std::uint64_t now_ns) {
  if (now_ns < next_ask_ns_) return;
  const auto replica = routing_.next_to_ask();
  if (!replica) return;
  next_ask_ns_ = now_ns + next_pause_ns(asks_);
  const EndpointId target = submission.target;
  send(sequence, submission, *replica);
  submission.target = target;
}

std::uint64_t SessionCore::acknowledged_below() {
  while (!command_order_.empty() && !submissions_.contains(command_order_.front())) command_order_.pop_front();
  return command_order_.empty() ? next_command_ : command_order_.front();
}

void SessionCore::replica_died(EndpointId replica, std::uint64_t now_ns) {
  if (!routing_.died(replica)) return;
  for (auto& [sequence, submission] : submissions_) {
    if (submission.target == replica) submission.retry_ns = now_ns;
  }
  if (!submissions_.empty()) next_timer_ns_ = now_ns;
}

// The command may be decided, and wait for the stopped replica's answer only: the leader learns of the stop at its own
// time. So what that replica was to answer is sent again, too.
void SessionCore::replica_stopped(EndpointId replica, std::uint64_t now_ns) {
  if (!routing_.stopped(replica)) return;
  doubts_end_ns_ = now_ns + options_.bounds.doubt_ms * kNsPerMs;
  for (auto& [sequence, submission] : submissions_) {
    const bool answers = submission.kind == RequestKind::kCommand && submission.responder == replica;
    if (submission.target == replica || answers) submission.retry_ns = now_ns;
  }
  if (!submissions_.empty()) next_timer_ns_ = now_ns;
}

// Other requests are sent again in any case.
void SessionCore::channel_drained(EndpointId replica, std::uint64_t now_ns) {
  if (!standing_ || submissions_[*standing_].target != replica) return;
  submissions_[*standing_].retry_ns = now_ns;
  next_timer_ns_ = now_ns;
}

// A standing query that was sent to a replica which has died since, for want of another one, goes to this one.
void SessionCore::replica_restarted(EndpointId replica, bool lags, std::uint64_t now_ns) {
  const bool lost = standing_ && routing_.dead(submissions_[*standing_].target);
  routing_.restarted(replica, lags);
  if (!lost) return;
  submissions_[*standing_].retry_ns = now_ns;
  next_timer_ns_ = now_ns;
}

void SessionCore::forget_old_doubts(std::uint64_t now_ns) {
  if (now_ns < doubts_end_ns_) return;
  doubts_end_ns_ = kNever;
  for (std::uint16_t id = 0; id < options_.replicas; ++id) routing_.continued(EndpointId(id));
}

void SessionCore::receive(EndpointId from, std::string_view message, std::uint64_t now_ns) {
  if (!routing_.is_replica(from)) return;
  routing_.continued(from);
  const auto response = decode_response(message);
  if (!response) return;
  const auto found = submissions_.find(response->sequence);
  if (found == submissions_.end()) return;  // already answered: this answers another attempt of the same request
  switch (response->status) {
    case Response::Status::kOk:
      shown_->show(response->slot);
      if (routing_.answered(*response)) next_timer_ns_ = now_ns;  // the other requests go to the new leader, too
      return finish(found->first, ReplicaReply::Outcome::kOk, response->slot, response->payload);
    case Response::Status::kNotLeader:
    case Response::Status::kBusy:
      return refused(found->first, found->second, from, *response, now_ns);
    case Response::Status::kResultGone:
    case Response::Status::kRefused:
      return finish(found->first, ReplicaReply::Outcome::kUnknown, response->slot, {});
  }
}

void SessionCore::refused(std::uint64_t sequence, Submission& submission, EndpointId from, const Response& response,
                          std::uint64_t now_ns) {
  if (submission.open_attempts > 0) --submission.open_attempts;
  if (response.status == Response::Status::kBusy) {
    // A leader takes no read while it changes its acceptor, and a joining replica none before it has its state. Both
    // end soon. Another replica than the target was only asked whether the leader lives.
    const bool read = submission.kind == RequestKind::kLinearizableQuery ||
                      submission.kind == RequestKind::kLocalQuery || submission.kind == RequestKind::kStandingQuery;
    if (read && from == submission.target) pause(submission, now_ns);
    if (read) return;
    if (submission.open_attempts == 0) finish(sequence, ReplicaReply::Outcome::kOverloaded, response.slot, {});
    return;
  }
  // A replica that does not lead, and names itself or a dead replica, does not know the leader. Another one may.
  const bool news = response.leader != from && routing_.follow(response.leader);
  if (!news) routing_.leads_not(from);
  if (news) next_timer_ns_ = now_ns;  // the other requests go to the new leader, too
  if (news && !submission.redirected) {
    submission.redirected = true;  // once: two replicas that name each other would send the request to and fro
    attempt(sequence, submission, now_ns);
  } else if (from == submission.target) {
    pause(submission, now_ns);
  }
}

// A local query that waits in silence waits for its floor: the next queries do not, at that replica.
void SessionCore::note_silence(const Submission& submission, std::uint64_t now_ns) {
  if (submission.kind != RequestKind::kLocalQuery || !options_.told_applied) return;
  if (now_ns >= submission.sent_ns + options_.bounds.retry_ms * kNsPerMs) {
    routing_.fell_behind(submission.target, submission.floor);
  }
}

// Schedules another attempt soon: the replica refused the request, so it is alive. For a local query another one is as
// good.
void SessionCore::pause(Submission& submission, std::uint64_t now_ns) {
  if (submission.kind != RequestKind::kLocalQuery) submission.attempts = std::max(0, submission.attempts - 1);
  const std::uint64_t at_ns = now_ns + next_pause_ns(submission.refusals);
  submission.retry_ns = std::min(submission.retry_ns, at_ns);
  next_timer_ns_ = std::min(next_timer_ns_, at_ns);  // retry_ns may be past, while earlier messages wait to leave
}

// Twice as long as the one before it.
std::uint64_t SessionCore::next_pause_ns(int& pauses) const {
  const std::uint64_t longest_ns = options_.bounds.scan_ms * kNsPerMs;
  const int doublings = std::min(pauses++, kPauseDoublings);
  return std::min((options_.bounds.pause_us * kNsPerUs) << doublings, longest_ns);
}

void SessionCore::finish(std::uint64_t sequence, ReplicaReply::Outcome outcome, Slot slot, std::string_view payload) {
  if (standing_ == sequence) standing_.reset();
  auto node = submissions_.extract(sequence);
  payload_bytes_ -= node.mapped().payload.size();
  actions_.emplace_back(Answer{std::move(node.mapped().callback), outcome, slot, std::string(payload)});
}

// A request whose last message still waits for room is not sent again. A request that went to a replica that no longer
// leads, as is known by now, is sent to the leader.
//
// Invariant: while a request is in flight that does not stand, the timer runs. It goes on for quiet_ms after the last
// request, so that a busy client does not wake its loop for every request; then it stops, so that an idle client sleeps.
void SessionCore::tick(std::uint64_t now_ns, absl::FunctionRef<bool(EndpointId)> backlogged) {
  if (now_ns < next_timer_ns_) return;
  forget_old_doubts(now_ns);
  const SessionBounds& bounds = options_.bounds;
  std::vector<std::uint64_t> expired;
  bool leader_is_silent = false;  // then one request a scan may also go to another replica
  std::uint64_t next_ns = now_ns + bounds.scan_ms * kNsPerMs;
  attempt_standing(now_ns, backlogged);
  for (auto& [sequence, submission] : submissions_) {
    if (now_ns >= submission.deadline_ns) {
      expired.push_back(sequence);
      continue;
    }
    if (submission.kind == RequestKind::kMove) continue;  // sent once
    if (submission.kind == RequestKind::kStandingQuery) continue;
    const bool for_leader = is_for_leader(submission.kind);
    const bool due = now_ns >= submission.retry_ns || (for_leader && submission.target != routing_.leader());
    const std::uint64_t suspect_ns = submission.sent_ns + bounds.suspect_ms * kNsPerMs;
    const bool silent = for_leader && now_ns >= suspect_ns;
    if (due) note_silence(submission, now_ns);
    if (due && !backlogged(routing_.target(submission.kind, submission.wanted, submission.attempts))) {
      submission.redirected = false;
      attempt(sequence, submission, now_ns);
    }
    if (silent && !leader_is_silent) {
      leader_is_silent = true;
      ask_another(sequence, submission, now_ns);
    }
    next_ns = std::min(next_ns, std::max(submission.retry_ns, now_ns + bounds.pause_us * kNsPerUs));
    if (!silent && for_leader) next_ns = std::min(next_ns, suspect_ns);
  }
  for (const std::uint64_t sequence : expired) {
    using Outcome = ReplicaReply::Outcome;
    const bool open = submissions_[sequence].open_attempts > 0;
    finish(sequence, open ? Outcome::kUnknown : Outcome::kOverloaded, Slot(), {});
  }
  if (!leader_is_silent) {
    asks_ = 0;
    next_ask_ns_ = 0;
  }
  if (in_flight() > 0) quiet_since_ns_ = now_ns;
  const bool quiet = now_ns - quiet_since_ns_ > bounds.quiet_ms * kNsPerMs;
  next_timer_ns_ = std::min(quiet ? kNever : next_ns, standing_retry_ns());
}

}  // namespace ingot::replication_client
