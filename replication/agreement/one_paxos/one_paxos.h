// 1Paxos (David, Guerraoui, Yabandeh, Middleware 2014; in detail: docs/agreement.md): one active acceptor,
// N messages per commit. Every replica is a learner; the configuration log says which one leads and which one accepts.
#pragma once

#include "core/replica_set.h"
#include "replication/agreement/agreement.h"
#include "replication/agreement/one_paxos/reconfiguration.h"
#include "replication/agreement/one_paxos/state.h"
#include "replication/agreement/one_paxos/state_recovery.h"
#include "replication/agreement/one_paxos/takeover.h"

namespace ingot::inline replication_agreement_one_paxos {

class OnePaxos : public Agreement {
 public:
  explicit OnePaxos(const GroupConfig& group);

  void start(Effects& effects) override;
  void propose(std::uint64_t proposal_id, std::shared_ptr<const std::string> command, Effects& effects) override;
  bool can_propose() const override { return state_.leader.can_propose(); }
  void read(std::uint64_t read_id, Effects& effects) override;
  void receive(EndpointId from, std::string_view message, Effects& effects) override;
  void tick(Effects& effects) override;
  bool wants_tick() const override;
  void peer_drained(EndpointId peer, Effects& effects) override;
  void applied(Slot applied, Effects& effects) override;
  void compact(Slot keep_from, Effects& effects) override;
  void installed(Slot first_undecided, Effects& effects) override;
  void peer_died(ReplicaIncarnation name, Effects& effects) override;
  void peer_started(ReplicaIncarnation name, Effects& effects) override;
  void peer_stopped(ReplicaIncarnation name, Effects& effects) override;
  void peer_continued(ReplicaIncarnation name, Effects& effects) override;
  void salvaged(ReplicaIncarnation name, const StableView* view, Effects& effects) override;
  void client_waits(Effects& effects) override;
  void history(const StableView& view, Effects& effects) override;
  void loading(bool loading) override { loading_ = loading; }
  absl::Status move(Role role, EndpointId to, Effects& effects) override;
  AgreementStatus status() const override;
  Role role() const override;
  EndpointId leader() const override;
  EndpointId acceptor() const override;
  Ballot ballot() const override;
  Slot next_slot() const override;
  std::size_t stored_bytes_max(std::string_view message) const override;
  void room(std::size_t bytes) override { state_.room.set(bytes); }
  std::uint64_t refused_messages() const override { return state_.mailbox.refused(); }

 private:
  void handle(EndpointId from, const Message& message, Effects& effects);
  void on_learn(const Message& learn, Effects& effects);
  void on_chosen(const Message& chosen, Effects& effects);
  void handle_roles(EndpointId from, const Message& message, Effects& effects);
  void on_pong(EndpointId from, const Message& pong, Effects& effects);
  void on_hello(EndpointId from, const Message& hello, Effects& effects);
  void call_for_history(Effects& effects);
  void send_hello(Effects& effects);
  void catch_up_with_group(Effects& effects);
  void settle(Effects& effects);
  bool leads() const;
  bool caught_up() const { return state_.peers.caught_up(state_.group.self); }

  OnePaxosState state_;
  OnePaxosTakeover takeover_;
  OnePaxosStateRecovery recovery_;
  OnePaxosReconfiguration reconfiguration_;
  // For a new incarnation: the voters that have reported their decided slots, and when to ask again.
  ReplicaSet commit_hints_;
  Slot known_elsewhere_;  // slots below it are decided on one of them
  RetransmitTimer hello_timer_;
  bool loading_ = false;
};

}  // namespace ingot::replication_agreement_one_paxos
