#include "replication/agreement/one_paxos/leader.h"

#include "core/rule.h"

namespace ingot::inline replication_agreement_one_paxos {

OnePaxosLeader::OnePaxosLeader(const GroupConfig& group, Mailbox& mailbox)
    : Leader(group, initial_entry(group).leader.id, Epoch(1), Ballot(1), mailbox),
      acceptor_(initial_entry(group).acceptor.id) {}

void OnePaxosLeader::offer(Slot slot, const Proposal& proposal, Effects& effects) {
  if (INGOT_RULE("proposal-stored")) {
    effects.stable.push_back({StableWrite::Kind::kProposed, epoch_, ballot_, slot, proposal.command});
  }
  offer_again(slot, proposal, effects);
}

void OnePaxosLeader::offer_again(Slot slot, const Proposal& proposal, Effects& effects) {
  mailbox_.send(acceptor_, accept(slot, proposal), effects);
}

void OnePaxosLeader::send_probe(Effects& effects) { mailbox_.send(acceptor_, probe(), effects); }

bool OnePaxosLeader::overtaken_by(Slot slot, const std::string& command) const {
  if (!leading() && !frozen()) return false;
  const Proposal* own = proposal(slot);
  return slot >= next_slot() || (own != nullptr && own->command.get() != &command && *own->command != command);
}

void OnePaxosLeader::on_read_confirm(EndpointId from, const Message& confirm, Effects& effects) {
  const bool answers = reads_allowed() && owns(confirm) && from == acceptor_ && reads_.under_way() &&
                       confirm.number == reads_.number();
  if (answers) confirm_reads(effects);
}

}  // namespace ingot::replication_agreement_one_paxos
