// Multi-Paxos, the well-known baseline: the leader asks the voters, a majority decides, the leader tells all learners.
// 2 (voters - 1) + (replicas - 1) messages per commit. If the leader fails, another voter takes over, as long as a
// majority of the voters is up.
#pragma once

#include "replication/agreement/agreement.h"
#include "replication/agreement/learner.h"
#include "replication/agreement/learner_catch_up.h"
#include "replication/agreement/mailbox.h"
#include "replication/agreement/multi_paxos/campaign.h"
#include "replication/agreement/multi_paxos/leader.h"
#include "replication/agreement/multi_paxos/prepare.h"
#include "replication/agreement/multi_paxos/voter.h"
#include "replication/agreement/peers.h"
#include "replication/agreement/stored.h"
#include "replication/agreement/suspicion.h"

namespace ingot::inline replication_agreement_multi_paxos {

class MultiPaxos : public Agreement {
 public:
  explicit MultiPaxos(const GroupConfig& group);

  void start(Effects& effects) override;
  void propose(std::uint64_t proposal_id, std::shared_ptr<const std::string> command, Effects& effects) override;
  bool can_propose() const override { return leader_.can_propose() && !leader_.recovering(); }
  void read(std::uint64_t read_id, Effects& effects) override;
  void receive(EndpointId from, std::string_view message, Effects& effects) override;
  void tick(Effects& effects) override;
  bool wants_tick() const override;
  void peer_drained(EndpointId peer, Effects& effects) override;
  void applied(Slot, Effects&) override {}
  void compact(Slot keep_from, Effects& effects) override;
  void installed(Slot first_undecided, Effects& effects) override;
  void peer_died(ReplicaIncarnation name, Effects& effects) override;
  void peer_started(ReplicaIncarnation name, Effects& effects) override;
  void peer_stopped(ReplicaIncarnation name, Effects& effects) override;
  void peer_continued(ReplicaIncarnation name, Effects& effects) override;
  void client_waits(Effects& effects) override;
  [[nodiscard]] absl::Status move(Role role, EndpointId to, Effects& effects) override;
  AgreementStatus status() const override;
  Role role() const override;
  EndpointId leader() const override;
  EndpointId acceptor() const override;
  Ballot ballot() const override;
  Slot next_slot() const override;
  std::size_t stored_bytes_max(std::string_view message) const override;
  void room(std::size_t bytes) override { room_.set(bytes); }
  std::uint64_t refused_messages() const override { return mailbox_.refused(); }

 private:
  // multi_paxos.cc: inputs, and which part handles which message.
  void handle(EndpointId from, const Message& message, Effects& effects);
  void handle_own(Effects& effects);
  void on_chosen(const Message& chosen, Effects& effects);
  void learn(Slot slot, const Learner::Command& command, Effects& effects);
  void reject_busy(Rejection::Kind kind, std::uint64_t id, Effects& effects);
  void add_blocked(AgreementStatus& status) const;

  // election.cc: elections.
  void settle(Effects& effects);  // after every input: acts on its consequences
  void follow(Ballot ballot, ReplicaIncarnation leader);
  void on_leader_message(EndpointId from, const Message& message);
  void beaten(Ballot by, Effects& effects);
  void stand(Effects& effects);
  void take_over(Effects& effects);
  bool leader_is_dead() const;
  bool leader_is_doubted() const;
  bool nobody_leads() const;
  int rank() const;
  void tell(EndpointId peer, Effects& effects);
  void ask_leader(Effects& effects);
  void on_abandon(EndpointId from, const Message& abandon, Effects& effects);
  void on_pong(EndpointId from, const Message& pong, Effects& effects);
  void leader_suspected(Effects& effects);
  void on_hello(EndpointId from, Effects& effects);

  GroupConfig group_;
  Mailbox mailbox_;
  Peers peers_;
  Learner learner_;
  CatchUp catch_up_;
  MultiPaxosLeader leader_;
  MultiPaxosVoter voter_;
  MultiPaxosPrepare prepare_;
  MultiPaxosCampaign campaign_;
  Suspicion suspicion_;
  Ballot following_{1};             // the highest ballot known to be in use
  StableRoom room_;
  ReplicaIncarnation leader_name_;  // its owner; incarnation 0: the owner's at that time, unknown here
  bool has_led_ = false;
};

}  // namespace ingot::replication_agreement_multi_paxos
