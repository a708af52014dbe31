// Two-phase commit: every replica prepares, every replica commits, and the coordinator answers when all have applied. 4
// (replicas - 1) messages per commit. In return every replica serves linearizable reads without a message. One replica
// that does not answer stalls every write, and without the coordinator the participants stay in doubt, for good if it
// is dead. This is inherent in two-phase commit; status() reports it.
#pragma once

#include "core/replica_set.h"
#include "replication/agreement/agreement.h"
#include "replication/agreement/learner.h"
#include "replication/agreement/mailbox.h"
#include "replication/agreement/suspicion.h"
#include "replication/agreement/two_phase_commit/coordinator.h"
#include "replication/agreement/two_phase_commit/participant.h"

namespace ingot::inline replication_agreement_two_phase_commit {

class TwoPhaseCommit : public Agreement {
 public:
  explicit TwoPhaseCommit(const GroupConfig& group);

  void propose(std::uint64_t proposal_id, std::shared_ptr<const std::string> command, Effects& effects) override;
  bool can_propose() const override { return coordinator_.can_propose(); }
  void read(std::uint64_t read_id, Effects& effects) override;
  void receive(EndpointId from, std::string_view message, Effects& effects) override;
  void tick(Effects& effects) override;
  bool wants_tick() const override { return coordinator_.wants_tick() || coordinator_watch_.waiting(); }
  void peer_drained(EndpointId peer, Effects& effects) override;
  void applied(Slot applied, Effects& effects) override;
  void compact(Slot keep_from, Effects& effects) override;
  void installed(Slot first_undecided, Effects& effects) override;
  void peer_died(ReplicaIncarnation name, Effects& effects) override;
  void peer_started(ReplicaIncarnation name, Effects& effects) override;
  void client_waits(Effects& effects) override;
  AgreementStatus status() const override;
  Role role() const override;
  EndpointId leader() const override;
  EndpointId acceptor() const override;
  Ballot ballot() const override;
  Slot next_slot() const override;
  std::size_t stored_bytes_max(std::string_view message) const override;
  std::uint64_t refused_messages() const override { return mailbox_.refused(); }

 private:
  void handle(EndpointId from, const Message& message, Effects& effects);
  void handle_own(Effects& effects);
  void ask_coordinator(Effects& effects);
  void watch_coordinator(Effects& effects);
  void add_blocked(AgreementStatus& status) const;
  void add_waiting(AgreementStatus& status) const;

  GroupConfig group_;
  // Replicas whose first incarnation is dead. Only first incarnations take part.
  ReplicaSet dead_;
  Mailbox mailbox_;
  Learner learner_;
  TwoPhaseCoordinator coordinator_;
  TwoPhaseParticipant participant_;
  Suspicion coordinator_watch_;  // while a client waits here: only for the status, since no other replica may decide
  bool suspected_ = false;       // the coordinator, since its last message
  Slot trimmed_;
};

}  // namespace ingot::replication_agreement_two_phase_commit
