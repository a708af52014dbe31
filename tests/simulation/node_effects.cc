// The execution of effects, in the order that agreement.h demands, a step at a time.
#include <utility>

#include "core/check.h"
#include "replication/agreement/messages.h"
#include "tests/replication/agreement/trace.h"
#include "tests/simulation/node.h"

namespace ingot::simulation {

bool Node::execute() {
  for (;;) {
    if (!progress_.under_way) {
      if (effects_.empty()) return true;
      std::swap(executing_, effects_);
      progress_ = {};
      progress_.under_way = true;
      if (environment_.traces()) environment_.trace(testing::describe_effects(self(), executing_));
    }
    if (mutant_ == Mutant::kMessagesBeforeStores && !send_all()) return false;
    if (!store_all() || !send_all() || !apply_all()) return false;
    finish_effects();
    progress_.under_way = false;
    executing_.clear();
    if (received_) install(std::exchange(received_, nullptr));
    answer_reads();
    propose_batches();
  }
}

bool Node::store_all() {
  for (; progress_.stable < executing_.stable.size(); ++progress_.stable) {
    if (environment_.at_crash_point(self())) return false;
    const StableWrite& write = executing_.stable[progress_.stable];
    environment_.checkers.stable.stores(self(), stable_.state(), write);
    stable_.apply(write);
    if (mutant_ == Mutant::kForgottenHistory) stable_.forget_history();
  }
  has_started_ = true;  // the first effects are those of Agreement::start
  return true;
}

bool Node::send_all() {
  for (; progress_.message < executing_.messages.size(); ++progress_.message) {
    const Outgoing& outgoing = executing_.messages[progress_.message];
    if (outgoing.broadcast) {
      if (!send_broadcast(outgoing)) return false;
      continue;
    }
    if (environment_.at_crash_point(self())) return false;
    INGOT_CHECK(outgoing.to != group_.self && outgoing.to.value() < group_.replicas, "to oneself or to nobody");
    environment_.network.send(self(), outgoing.to.value(), outgoing.message, now_);
    if (after_sending(*outgoing.message)) return false;
  }
  return true;
}

// True: it was crashed there.
bool Node::after_sending(std::string_view message) {
  switch (static_cast<MessageType>(message[2])) {
    case MessageType::kPromise:
    case MessageType::kConfigPromise:
      return environment_.promised(self());
    default:
      return false;
  }
}

bool Node::send_broadcast(const Outgoing& outgoing) {
  for (; progress_.peer < group_.replicas; ++progress_.peer) {
    if (progress_.peer == self()) continue;
    if (environment_.at_crash_point(self())) return false;
    environment_.network.send(self(), progress_.peer, outgoing.message, now_);
  }
  progress_.peer = 0;
  return true;
}

bool Node::apply_all() {
  for (; progress_.decided < executing_.decided.size(); ++progress_.decided) {
    if (environment_.at_crash_point(self())) return false;
    apply(executing_.decided[progress_.decided]);
    if (!environment_.checkers.log.violation().empty()) return false;
  }
  return true;
}

void Node::apply(const Decision& decision) {
  environment_.checkers.log.decided(self(), decision);
  if (!environment_.checkers.log.violation().empty()) return;  // the real applier would abort
  while (!window_.empty() && window_.front() <= decision.slot) window_.pop();
  applier_.apply(decision.slot, *decision.command, [&](const Applier::Applied& applied) {
    const Request& request = applied.request;
    if (std::exchange(machine_.carried_out, false)) {
      environment_.checkers.effects.carried_out(self(), environment_.operation_of(request.client, request.sequence));
    }
    batcher_.decided(request);
    if (request.responder == group_.self) respond(request.reply_to, request.sequence, applied.status, applied.result);
  });
  environment_.checkers.digests.applied(self(), applier_.applied(), applier_.digest());
}

void Node::finish_effects() {
  if (!executing_.decided.empty()) agreement_->applied(applier_.applied(), effects_);
  for (const ReadReady& read : executing_.reads_ready) reads_.ready(read.read_id, read.applied_needed);
  for (const Rejection& rejection : executing_.rejected) reject(rejection);
  for (const ReplicaIncarnation& name : executing_.salvage_needed) environment_.salvage(self(), name);
  if (executing_.history_needed) environment_.history(self());
  for (const ReplicaIncarnation& name : executing_.fence) environment_.fence(name);
  if (executing_.snapshot_needed) wants_snapshot_ = true;
}

void Node::reject(const Rejection& rejection) {
  if (rejection.kind == Rejection::Kind::kCommand) {
    batcher_.forget_proposals();
    window_.clear();
    return;
  }
  const auto read = reads_.remove(rejection.id);
  if (!read) return;
  const bool busy = rejection.why == Rejection::Why::kBusy;
  respond(read->reply_to, read->sequence, busy ? Response::Status::kBusy : Response::Status::kNotLeader, {});
}

void Node::answer_reads() {
  reads_.take_answerable(applier_.applied(), [this](const PendingRead& read) {
    respond(read.reply_to, read.sequence, Response::Status::kOk, machine_.query(read.query));
  });
}

}  // namespace ingot::simulation
