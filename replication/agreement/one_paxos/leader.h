// 1Paxos, the leader: assigns slots to commands and has the one acceptor store them.
#pragma once

#include "replication/agreement/leader.h"
#include "replication/agreement/one_paxos/configuration.h"

namespace ingot::inline replication_agreement_one_paxos {

// Leads from the start if the first configuration names this replica. Not thread-safe.
class OnePaxosLeader : public Leader {
 public:
  // REQUIRES: mailbox outlives this.
  OnePaxosLeader(const GroupConfig& group, Mailbox& mailbox);

  // For the leadership that begins next.
  void set_acceptor(EndpointId acceptor) { acceptor_ = acceptor; }
  bool waits_for_acceptor() const { return leading() && (window_.open() > 0 || reads_.under_way()); }

  // Whether this decision proves that a newer replica leads, before any message has said so: within a leadership only
  // its leader's proposals are decided.
  bool overtaken_by(Slot slot, const std::string& command) const;

  void on_read_confirm(EndpointId from, const Message& confirm, Effects& effects);

 private:
  void offer(Slot slot, const Proposal& proposal, Effects& effects) override;
  void offer_again(Slot slot, const Proposal& proposal, Effects& effects) override;
  void send_probe(Effects& effects) override;

  EndpointId acceptor_;
};

}  // namespace ingot::replication_agreement_one_paxos
