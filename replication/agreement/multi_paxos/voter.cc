#include "replication/agreement/multi_paxos/voter.h"

#include <algorithm>
#include <utility>

#include "core/rule.h"
#include "core/wire.h"
#include "replication/agreement/limits.h"
#include "replication/agreement/multi_paxos/ballot.h"
#include "replication/agreement/multi_paxos/limits.h"
#include "replication/stable/view.h"

namespace ingot::inline replication_agreement_multi_paxos {

MultiPaxosVoter::MultiPaxosVoter(const GroupConfig& group, Mailbox& mailbox)
    : mailbox_(mailbox),
      voters_(group.voters),
      active_(group.self.value() < group.voters && group.incarnation == Incarnation(1)) {
  const bool later = group.self.value() < group.voters && group.incarnation > Incarnation(1);
  if (later && group.predecessor) inherit(*group.predecessor);
}

void MultiPaxosVoter::inherit(const StableView& view) {
  if (!view.may_be_inherited()) return;
  active_ = inherited_ = true;
  if (!INGOT_RULE("voter-inherits")) return;
  promised_ = view.promised;
  accepted_.trim(view.trimmed);
  for (const auto& [slot, entry] : view.accepted) accepted_.store(slot, entry.ballot, entry.command);
}

void MultiPaxosVoter::start(Effects& effects) {
  if (!inherited_) return;
  using Kind = StableWrite::Kind;
  effects.stable.push_back({Kind::kPromise, epoch_, Ballot(0), Slot(0), nullptr});  // begins the epoch
  for (Slot slot = accepted_.trimmed(); slot < accepted_.end(); slot = slot.next()) {
    if (const auto* entry = accepted_.find(slot)) {
      effects.stable.push_back({Kind::kAccepted, epoch_, entry->ballot, slot, entry->command});
    }
  }
  if (accepted_.trimmed() > Slot(0)) {
    effects.stable.push_back({Kind::kTrimmed, epoch_, promised_, accepted_.trimmed(), nullptr});
  }
  promised_ = std::max(promised_, Ballot(1));  // ballot 1 was promised to its owner from the start
  effects.stable.push_back({Kind::kPromise, epoch_, promised_, Slot(0), nullptr});
  static const auto all_inherited = std::make_shared<const std::string>("inherited");
  effects.stable.push_back({Kind::kConfiguration, Epoch(0), Ballot(0), Slot(0), all_inherited});
}

bool MultiPaxosVoter::is_owner(EndpointId from, Ballot ballot) const {
  return ballot > Ballot(0) && ballot_owner(ballot, voters_) == from;
}

void MultiPaxosVoter::on_accept(EndpointId from, const Message& accept, Slot decided, Effects& effects) {
  if (!active_ || accept.epoch != epoch_ || !is_owner(from, accept.ballot)) return mailbox_.refuse();
  if (accept.ballot < promised_ && INGOT_RULE("voter-keeps-promise")) return abandon(from, effects);
  if (accept.slot < accepted_.trimmed()) {
    mailbox_.send(from, {.type = MessageType::kCommitHint, .slot = accepted_.trimmed()}, effects);
    return;
  }
  const Slot caught_up = std::max(decided, accepted_.trimmed());
  if (accept.slot.value() >= caught_up.value() + kVoteAheadSlots) return;  // catches up first; the leader retransmits
  vote(accept, effects);
  mailbox_.send(
      from,
      {.type = MessageType::kAccepted, .epoch = accept.epoch, .ballot = accept.ballot, .slot = accept.slot},
      effects);
}

void MultiPaxosVoter::promise(Ballot ballot, Effects& effects) {
  if (ballot <= promised_) return;
  promised_ = ballot;
  if (!INGOT_RULE("voter-stores-promise")) return;
  effects.stable.push_back({StableWrite::Kind::kPromise, epoch_, promised_, Slot(0), nullptr});
}

void MultiPaxosVoter::vote(const Message& accept, Effects& effects) {
  promise(accept.ballot, effects);
  const AcceptedLog::Entry* stored = accepted_.find(accept.slot);
  if (stored && stored->ballot == accept.ballot) return;
  auto command = command_of(accept);
  if (INGOT_RULE("voter-stores-vote")) {
    effects.stable.push_back({StableWrite::Kind::kAccepted, epoch_, accept.ballot, accept.slot, command});
  }
  accepted_.store(accept.slot, accept.ballot, std::move(command));
}

void MultiPaxosVoter::on_prepare(EndpointId from, const Message& prepare, Effects& effects) {
  if (!active_ || prepare.epoch != epoch_ || !is_owner(from, prepare.ballot)) return mailbox_.refuse();
  if (prepare.ballot < promised_) return abandon(from, effects);
  promise(prepare.ballot, effects);
  WireWriter votes;
  Slot slot = std::max(prepare.slot, accepted_.trimmed());
  for (int count = 0; slot < accepted_.end() && count < kPromiseVotesMax && votes.size() < kPromiseBytesMax;
       slot = slot.next()) {
    const AcceptedLog::Entry* entry = accepted_.find(slot);
    if (!entry) continue;
    append_vote({slot, entry->ballot, *entry->command}, votes);
    ++count;
  }
  const auto bytes = std::make_shared<const std::string>(votes.take());  // a message to oneself may refer to it later
  mailbox_.send(from,
                {.type = MessageType::kPromise,
                 .epoch = epoch_,
                 .ballot = prepare.ballot,
                 .slot = slot,
                 .number = accepted_.trimmed().value(),
                 .verdict = slot >= accepted_.end(),
                 .payload = *bytes,
                 .command = bytes},
                effects);
}

std::shared_ptr<const std::string> MultiPaxosVoter::shared_command(const Message& learn) const {
  const AcceptedLog::Entry* stored = accepted_.find(learn.slot);
  return command_of(learn, stored ? stored->command : nullptr);
}

std::shared_ptr<const std::string> MultiPaxosVoter::chosen_command(const Message& chosen) const {
  const AcceptedLog::Entry* stored = accepted_.find(chosen.slot);
  const bool voted = stored && (stored->ballot == chosen.ballot || !INGOT_RULE("chosen-is-voted"));
  return voted ? stored->command : nullptr;
}

void MultiPaxosVoter::abandon(EndpointId to, Effects& effects) {
  mailbox_.send(to, {.type = MessageType::kAbandon, .epoch = epoch_, .ballot = promised_}, effects);
}

// A probe with a ballot newer than any seen here is confirmed: this voter has promised no newer one.
void MultiPaxosVoter::on_read_probe(EndpointId from, const Message& probe, Effects& effects) {
  if (!active_ || probe.epoch != epoch_) return mailbox_.refuse();
  if (probe.ballot < promised_) return abandon(from, effects);
  mailbox_.send(
      from,
      {.type = MessageType::kReadConfirm, .epoch = epoch_, .ballot = probe.ballot, .number = probe.number},
      effects);
}

void MultiPaxosVoter::trim(Slot keep_from, Effects& effects) {
  if (!active_ || !accepted_.trim(keep_from)) return;
  effects.stable.push_back({StableWrite::Kind::kTrimmed, epoch_, promised_, accepted_.trimmed(), nullptr});
}

}  // namespace ingot::replication_agreement_multi_paxos
