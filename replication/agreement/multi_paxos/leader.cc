#include "replication/agreement/multi_paxos/leader.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/rule.h"

namespace ingot::inline replication_agreement_multi_paxos {

MultiPaxosLeader::MultiPaxosLeader(const GroupConfig& group, Mailbox& mailbox)
    : Leader(group, EndpointId(0), Epoch(1), Ballot(1), mailbox),
      self_(group.self),
      voters_(group.voters),
      window_slots_(static_cast<std::size_t>(group.bounds.window_slots)) {}

void MultiPaxosLeader::take_over(Ballot ballot, Slot decided, std::vector<Recovered> recovered, StableRoom& room,
                                 Effects& effects) {
  rest_.clear();
  std::size_t now = 0;
  const std::size_t most = std::min(recovered.size(), window_slots_);
  const auto has_room = [&](const Recovered& each) {
    return room.take(stable_record_bytes(each.command->size())) || !INGOT_RULE("recovered-has-room");
  };
  while (now < most && has_room(recovered[now])) ++now;
  for (std::size_t i = now; i < recovered.size(); ++i) rest_.push_back(std::move(recovered[i].command));
  recovered.resize(now);
  orphan_unless_in(recovered, decided);
  rest_begin_ = decided.plus(now);
  effects.stable.push_back({StableWrite::Kind::kLeading, Epoch(1), ballot, decided, nullptr});
  INGOT_CHECK(lead(Epoch(1), ballot, decided, recovered, effects), "so many fit into a window");
}

void MultiPaxosLeader::orphan_unless_in(const std::vector<Recovered>& recovered, Slot first) {
  orphans_.erase(orphans_.begin(), orphans_.lower_bound(first));  // these slots came with a snapshot
  std::vector<Slot> orphaned;
  window_.for_each_open([&](Slot slot, const Proposal& proposal) {
    const bool covered = slot >= first && slot.value() - first.value() < recovered.size();
    if (covered && *recovered[slot.value() - first.value()].command == *proposal.command) return;
    orphaned.push_back(slot);
    if (proposal.id != 0 && orphans_.size() < kOrphansMax) orphans_.emplace(slot, proposal);
  });
  for (const Slot slot : orphaned) window_.close(slot);
}

void MultiPaxosLeader::settle_orphans(Slot slot, const std::string& command, EndpointId leader, Effects& effects) {
  if (orphans_.empty()) return;
  const auto [begin, end] = orphans_.equal_range(slot);
  for (auto orphan = begin; orphan != end; ++orphan) {
    if (*orphan->second.command == command) continue;
    effects.rejected.push_back({Rejection::Kind::kCommand, Rejection::Why::kNotLeader, orphan->second.id, leader});
  }
  orphans_.erase(begin, end);
}

// Skips slots that were learned from peers meanwhile.
void MultiPaxosLeader::feed(StableRoom& room, Effects& effects) {
  while (leading() && !rest_.empty()) {
    const Slot slot = window_.next();
    if (rest_begin_ >= slot) {
      if (!window_.has_slot()) return;
      if (!room.take(stable_record_bytes(rest_.front()->size())) && INGOT_RULE("recovered-has-room")) return;
      INGOT_CHECK(window_.add_recovered(0, rest_.front()), "it has a slot");
      offer(slot, *window_.find(slot), effects);
    }
    rest_.pop_front();
    rest_begin_ = rest_begin_.next();
  }
}

void MultiPaxosLeader::depose(EndpointId leader, Effects& effects) {
  rest_.clear();
  step_down(leader, effects);
}

ReplicaSet MultiPaxosLeader::awaited() const {
  const Proposal* oldest = window_.find(window_.base());
  return ReplicaSet::first(voters_) - (oldest ? oldest->votes : reads_.votes);
}

bool MultiPaxosLeader::majority(ReplicaSet votes) const {
  return INGOT_RULE("vote-majority") ? 2 * votes.size() > voters_ : 2 * votes.size() >= voters_;
}

void MultiPaxosLeader::offer(Slot slot, const Proposal& proposal, Effects& effects) {
  Message message = accept(slot, proposal);
  mailbox_.multicast(voters_, message, effects);
  mailbox_.send(self_, std::move(message), effects);
}

void MultiPaxosLeader::offer_again(Slot slot, const Proposal& proposal, Effects& effects) {
  to_voters_except(proposal.votes, accept(slot, proposal), effects);
}

void MultiPaxosLeader::send_probe(Effects& effects) { to_voters_except(reads_.votes, probe(), effects); }

void MultiPaxosLeader::resend_to(EndpointId voter, Effects& effects) {
  spared_ = ReplicaSet::first(voters_) - ReplicaSet::of(voter);
  resend(effects);
  spared_.clear();
}

void MultiPaxosLeader::to_voters_except(ReplicaSet answered, const Message& message, Effects& effects) {
  for (const EndpointId voter : ReplicaSet::first(voters_) - (answered | spared_))
    mailbox_.send(voter, message, effects);
}

void MultiPaxosLeader::on_accepted(EndpointId from, const Message& accepted, Effects& effects) {
  if (from.value() >= voters_) return mailbox_.refuse();
  Proposal* proposal = leading() && owns(accepted) ? window_.find(accepted.slot) : nullptr;
  if (!proposal) return;
  proposal->votes.insert(from);
  if (!INGOT_RULE("one-vote-each")) {
    proposal->votes.insert(EndpointId(static_cast<std::uint16_t>((from.value() + 1) % voters_)));
  }
  timer_.progress();
  if (!majority(proposal->votes)) return;
  Message learn{.type = MessageType::kLearn,
                .epoch = epoch_,
                .ballot = ballot_,
                .slot = accepted.slot,
                .command = proposal->command};
  // They got the command before, by the same channel. One that lost it, or could not store it, fetches it.
  mailbox_.broadcast_learn(learn, ReplicaSet::first(voters_) - silent_, effects);
  window_.close(accepted.slot);
  mailbox_.send(self_, std::move(learn), effects);
}

void MultiPaxosLeader::on_read_confirm(EndpointId from, const Message& confirm, Effects& effects) {
  if (from.value() >= voters_) return mailbox_.refuse();
  const bool answers = leading() && owns(confirm) && reads_.under_way() && confirm.number == reads_.number();
  if (!answers) return;
  reads_.votes.insert(from);
  if (majority(reads_.votes) || !INGOT_RULE("read-majority")) confirm_reads(effects);
}

}  // namespace ingot::replication_agreement_multi_paxos
