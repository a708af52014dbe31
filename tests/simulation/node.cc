#include "tests/simulation/node.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/check.h"
#include "tests/replication/agreement/trace.h"

namespace ingot::simulation {

Node::Node(Setup setup)
    : group_(setup.group),
      schedule_(setup.schedule),
      mutant_(setup.mutant),
      environment_(*setup.environment),
      agreement_(std::move(setup.agreement)),
      stable_(group_.self, group_.incarnation),
      applier_(machine_),
      next_trim_(static_cast<std::uint64_t>(schedule_.trim_slots)) {
  agreement_->start(effects_);
  has_started_ = effects_.stable.empty();
}

void Node::poll(TimeNs now) {
  now_ = now;
  busy_until_ = now + schedule_.poll_cost_ns;
  if (!execute()) return;
  read_messages(now);
  if (now >= next_tick_) {
    next_tick_ = kNever;
    if (agreement_->wants_tick()) agreement_->tick(effects_);
  }
  forget_if_deposed();
  propose_batches();
  if (!execute()) return;
  const bool moved = environment_.network.flush(self(), now, [this](int peer) {
    if (peer < group_.replicas) agreement_->peer_drained(EndpointId(static_cast<std::uint16_t>(peer)), effects_);
  });
  if (moved && !execute()) return;
  compact();
  if (!execute()) return;
  environment_.applied_pages[group_.self.value()] = applier_.applied();
  if (!agreement_->wants_tick()) {
    next_tick_ = kNever;
  } else if (next_tick_ == kNever) {
    next_tick_ = now + schedule_.tick_ns;
  }
}

void Node::read_messages(TimeNs now) {
  Network& network = environment_.network;
  if (network.next_arrival(self()) > now) return;
  for (std::uint64_t left = network.senders(self()); left != 0; left &= left - 1) {
    const int from = std::countr_zero(left);
    for (int i = 0; i < schedule_.poll_messages; ++i) {
      const Message message = network.take(from, self(), now);
      if (!message) break;
      busy_until_ += schedule_.message_cost_ns;
      receive(EndpointId(static_cast<std::uint16_t>(from)), *message);
    }
  }
  network.done_reading(self());
}

void Node::receive(EndpointId from, std::string_view message) {
  if (static_cast<MessageClass>(message.front()) == MessageClass::kRequest) return receive_request(from, message);
  if (environment_.traces()) {
    environment_.trace(std::to_string(self()) + " <- " + std::to_string(from.value()) + "  " +
                        testing::describe_message(message));
  }
  agreement_->receive(from, message, effects_);
}

void Node::receive_request(EndpointId from, std::string_view message) {
  auto request = decode_request(message);
  INGOT_CHECK(request && request->reply_to == from, "simulated clients send requests");
  if (mutant_ == Mutant::kForgottenSessions) request->client += ++requests_ << kSessionBits;
  if (request->kind == RequestKind::kCommand) {
    if (agreement_->status().role != Role::kLeader) {
      respond(from, request->sequence, Response::Status::kNotLeader, {});
      agreement_->client_waits(effects_);
    } else if (batcher_.add(*request) == Batcher::Added::kFull) {
      respond(from, request->sequence, Response::Status::kBusy, {});
    }
    return;
  }
  const auto read_id = reads_.add({from, request->sequence, std::string(request->payload)});
  if (!read_id) return respond(from, request->sequence, Response::Status::kBusy, {});
  agreement_->read(*read_id, effects_);
}

// What a former leader proposed may be decided or not: its clients ask again, here or elsewhere.
void Node::forget_if_deposed() {
  const AgreementStatus status = agreement_->status();
  const Ballot leads = status.role == Role::kLeader ? status.ballot : Ballot(0);
  if (leads == leads_) return;
  leads_ = leads;
  batcher_.forget_proposals();
  window_.clear();
}

bool Node::may_propose() const {
  if (batcher_.empty() || !agreement_->can_propose()) return false;
  return batcher_.full_batch() || window_.size() < static_cast<std::size_t>(schedule_.pipeline_slots);
}

void Node::propose_batches() {
  while (may_propose()) {
    window_.push(agreement_->status().proposed);
    agreement_->propose(next_proposal_id_++, batcher_.take(), effects_);
  }
}

void Node::install(std::shared_ptr<const Snapshot> snapshot) {
  wants_snapshot_ = false;
  if (progress_.under_way) {
    received_ = std::move(snapshot);
    return;
  }
  const Slot applied = snapshot->applied;
  if (applied <= applier_.applied()) return;
  INGOT_CHECK(applier_.load(snapshot->bytes).ok(), "a snapshot loads");
  environment_.checkers.effects.loaded(self(), snapshot->effects);
  environment_.checkers.log.installed(self(), applied);
  batcher_.forget_proposals();
  while (!window_.empty() && window_.front() < applied) window_.pop();
  if (environment_.traces()) {
    environment_.trace(std::to_string(self()) + " installs a snapshot of the slots below " +
                        std::to_string(applied.value()));
  }
  // What was decided and not yet begun is in it.
  const auto known = [&](const Decision& decision) { return decision.slot < applied; };
  std::erase_if(effects_.decided, known);
  agreement_->installed(applied, effects_);
  agreement_->applied(applied, effects_);
}

Snapshot Node::take_snapshot() const {
  return {applier_.applied(), applier_.save(), environment_.checkers.effects.effects(self())};
}

// Trims, and seals a snapshot first if the newest one is old; or, short of room, at once.
void Node::compact() {
  const Slot applied = applier_.applied();
  const bool pressed = environment_.pressed;
  if (!pressed && applied < next_trim_) return;
  next_trim_ = applied.plus(static_cast<std::uint64_t>(schedule_.trim_slots));
  const Slot published = environment_.published_below();
  const auto due = published.plus(pressed ? 1 : static_cast<std::uint64_t>(schedule_.publish_slots));
  if (applied >= due) environment_.publish(take_snapshot());
  const Slot keep_from = trim_point(pressed);
  if (keep_from <= trimmed_) return;
  trimmed_ = keep_from;
  agreement_->compact(keep_from, effects_);
}

// What every living voter has applied, or, pressed for room, what two living replicas have; nothing that this one has
// not, and nothing above the newest published snapshot, or it were lost if everybody died.
Slot Node::trim_point(bool pressed) const {
  std::vector<Slot> applied;
  for (int replica = 0; replica < (pressed ? group_.replicas : group_.voters); ++replica) {
    const auto index = static_cast<std::size_t>(replica);
    if (!environment_.alive[index]) continue;
    applied.push_back(replica == self() ? applier_.applied() : environment_.applied_pages[index]);
  }
  std::sort(applied.begin(), applied.end());
  const Slot bound = std::min(applier_.applied(), environment_.published_below());
  if (applied.empty()) return bound;  // this one is a learner, and no voter lives
  const bool two = pressed && applied.size() > 1;
  return std::min(bound, pressed ? applied[applied.size() - (two ? 2 : 1)] : applied.front());
}

void Node::respond(EndpointId to, std::uint64_t sequence, Response::Status status, std::string_view payload) {
  const AgreementStatus agreement = agreement_->status();
  Response response;
  response.status = status;
  response.sequence = sequence;
  response.slot = applier_.applied();
  response.leader = agreement.leader;
  response.acceptor = agreement.acceptor;
  response.payload = payload;
  environment_.network.send(self(), to.value(), std::make_shared<const std::string>(encode(response)), now_);
}

}  // namespace ingot::simulation
