#include "replication/agreement/one_paxos/acceptor.h"

#include <algorithm>
#include <utility>

#include "core/rule.h"
#include "core/wire.h"
#include "replication/agreement/limits.h"

namespace ingot::inline replication_agreement_one_paxos {

OnePaxosAcceptor::OnePaxosAcceptor(const GroupConfig& group, Mailbox& mailbox)
    : self_(group.self), incarnation_(group.incarnation), mailbox_(mailbox) {
  if (initial_entry(group).acceptor != name_of_self(group)) return;
  epoch_ = Epoch(1);
  promised_ = Ballot(1);
}

// A promise binds the incarnation that gave it; a Prepare for a predecessor is not answered.
void OnePaxosAcceptor::on_prepare(EndpointId from, const Message& prepare, Effects& effects) {
  if (prepare.target != incarnation_ || prepare.epoch < epoch_ ||
      (prepare.epoch == epoch_ && prepare.ballot < promised_)) {
    return abandon(from, effects);
  }
  const bool is_new = prepare.epoch > epoch_ || prepare.ballot > promised_ || !stored_promise_;
  if (prepare.epoch > epoch_) begin(prepare.epoch, Slot(prepare.number));
  promised_ = prepare.ballot;
  if (is_new) effects.stable.push_back({StableWrite::Kind::kPromise, epoch_, promised_, Slot(0), nullptr});
  stored_promise_ = true;
  mailbox_.send(from, promise(prepare.slot), effects);
}

void OnePaxosAcceptor::begin(Epoch epoch, Slot base) {
  epoch_ = epoch;
  promised_ = Ballot(0);
  accepted_.restart(base);
}

Message OnePaxosAcceptor::promise(Slot from) const {
  WireWriter votes;
  Slot slot = std::max(from, accepted_.trimmed());
  int count = 0;
  for (; slot < accepted_.end() && count < kFetchEntriesMax && votes.size() < kFetchBytesMax; slot = slot.next()) {
    const AcceptedLog::Entry* entry = accepted_.find(slot);
    if (!entry) continue;
    append_vote({slot, entry->ballot, *entry->command}, votes);
    ++count;
  }
  Message promise{.type = MessageType::kPromise, .epoch = epoch_, .ballot = promised_, .slot = slot,
                  .number = accepted_.trimmed().value(), .verdict = slot >= accepted_.end()};
  promise.command = std::make_shared<const std::string>(votes.take());
  promise.payload = *promise.command;
  return promise;
}

bool OnePaxosAcceptor::on_accept(EndpointId from, const Message& accept, Slot decided, Effects& effects) {
  const bool promised_newer = accept.ballot < promised_ && INGOT_RULE("promise-kept");
  if (accept.epoch != epoch_ || promised_newer || accept.slot < accepted_.trimmed()) {
    abandon(from, effects);
    return true;
  }
  const AcceptedLog::Entry* stored = accepted_.find(accept.slot);
  if (!stored || !INGOT_RULE("write-once")) {
    // A leader's window is smaller.
    if (accept.slot.value() >= std::max(decided, accepted_.end()).value() + kLearnerAheadSlots) return false;
    store(from, accept, effects);
    return true;
  }
  // Retransmitted, or the slot is taken: only the sender needs an answer. The whole, whatever it has.
  mailbox_.send(from,
                {.type = MessageType::kLearn,
                 .epoch = epoch_,
                 .ballot = stored->ballot,
                 .slot = accept.slot,
                 .command = stored->command},
                effects);
  return true;
}

// The leader has the command: under one ballot it proposes one for the slot.
void OnePaxosAcceptor::store(EndpointId from, const Message& accept, Effects& effects) {
  if (!stored_promise_) {
    effects.stable.push_back({StableWrite::Kind::kPromise, epoch_, promised_, Slot(0), nullptr});
    stored_promise_ = true;
  }
  Message learn{.type = MessageType::kLearn,
                .epoch = epoch_,
                .ballot = accept.ballot,
                .slot = accept.slot,
                .command = command_of(accept)};
  if (INGOT_RULE("vote-stored")) {
    effects.stable.push_back({StableWrite::Kind::kAccepted, epoch_, accept.ballot, accept.slot, learn.command});
  }
  accepted_.store(accept.slot, accept.ballot, learn.command);
  mailbox_.broadcast_learn(learn, ReplicaSet::of(from), effects);
  mailbox_.send(self_, std::move(learn), effects);
}

void OnePaxosAcceptor::abandon(EndpointId to, Effects& effects) {
  mailbox_.send(to,
                {.type = MessageType::kAbandon,
                 .epoch = epoch_,
                 .ballot = promised_,
                 .number = accepted_.trimmed().value()},
                effects);
}

void OnePaxosAcceptor::on_read_probe(EndpointId from, const Message& probe, Effects& effects) {
  const bool holds = probe.epoch == epoch_ && probe.ballot == promised_;
  if (!holds && INGOT_RULE("probe-checks-ballot")) return abandon(from, effects);
  mailbox_.send(
      from,
      {.type = MessageType::kReadConfirm, .epoch = probe.epoch, .ballot = probe.ballot, .number = probe.number},
      effects);
}

// The segment also holds entries accepted in earlier epochs, so its trim mark may be above that of accepted_, which
// starts afresh with each epoch. All slots below either mark are decided.
void OnePaxosAcceptor::trim(Slot keep_from, Effects& effects) {
  if (!active() || keep_from <= kept_from_) return;
  kept_from_ = keep_from;
  accepted_.trim(std::min(keep_from, accepted_.end()));
  effects.stable.push_back({StableWrite::Kind::kTrimmed, epoch_, promised_, keep_from, nullptr});
}

}  // namespace ingot::replication_agreement_one_paxos
