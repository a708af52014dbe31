// 1Paxos, which replica gets which role: campaigns against a suspected leader, changes of acceptor by the leader, and
// reactions to new entries of the configuration log.
#pragma once

#include "absl/status/status.h"
#include "replication/agreement/one_paxos/state.h"
#include "replication/agreement/one_paxos/state_recovery.h"
#include "replication/agreement/one_paxos/takeover.h"
#include "replication/agreement/suspicion.h"

namespace ingot::inline replication_agreement_one_paxos {

// Acts on a death or a doubt at once, on silence after Suspicion's time and only while an answer is awaited. Replicas
// act in the order of their ids, each a little after the one before. Not thread-safe.
class OnePaxosReconfiguration {
 public:
  OnePaxosReconfiguration(OnePaxosState& state, OnePaxosTakeover& takeover, OnePaxosStateRecovery& recovery);

  // After every input: acts on deaths, new entries of the log, and completed recovery.
  void step(Effects& effects);

  // A client's request waits here for the leader.
  void client_waits(Effects& effects);
  // Asks for a sign of life, and reports this replica's tip of the log and its decided slot.
  void ping(EndpointId to, Effects& effects);
  // A message came from this incarnation.
  void note_alive(ReplicaIncarnation name);
  void pong(EndpointId to, std::uint64_t number, Effects& effects);
  void on_ping(EndpointId from, const Message& ping, Effects& effects);
  void on_step_down(EndpointId from, const Message& question, Effects& effects);

  absl::Status move(Role role, EndpointId to, Effects& effects);

  void tick(Effects& effects);
  bool wants_tick() const;
  void describe(AgreementStatus& status) const;

 private:
  void read_log(Effects& effects);
  void act_as_leader(Effects& effects);
  bool is_author() const;
  bool leader_is_gone() const;
  bool acceptor_is_doubted() const;
  bool moved_unexplained(ReplicaIncarnation last, ReplicaIncarnation now) const;
  bool may_change_acceptor() const;
  bool may_campaign() const;
  int rank() const;
  void campaign(ReplicaIncarnation suspected, Effects& effects);
  void replace_silent_acceptor(Effects& effects);
  bool change_acceptor(EndpointId preferred, ReplicaIncarnation suspected, Effects& effects);
  void check_candidates(Effects& effects);
  void check_leader(Effects& effects);
  bool waits_for_leader() const;
  void ping_voters(Effects& effects);
  ReplicaSet voters_up() const;
  bool majority_up() const { return 2 * voters_up().size() > state_.group.voters; }
  ConfigEntry write_change(ReplicaIncarnation acceptor, Slot known, Effects& effects);
  ReplicaIncarnation candidate() const;
  void tick_leader_watch(Effects& effects);
  void tick_acceptor_watch(Effects& effects);
  void suspect_leader(Effects& effects);
  void fence_if_stuck(Effects& effects);
  void describe_leading(AgreementStatus& status) const;
  void describe_takeover(AgreementStatus& status) const;

  OnePaxosState& state_;
  OnePaxosTakeover& takeover_;
  OnePaxosStateRecovery& recovery_;
  Suspicion leader_watch_;
  Suspicion acceptor_watch_;
  std::uint64_t read_tip_ = 1;        // tip of the log up to which entries are acted upon
  std::uint64_t renounced_ = 0;       // leaderships of ballots below it are given up for good
  int rank_ticks_ = 0;                // since the leader is known dead, or is doubted
  ReplicaIncarnation suspected_{};    // its silence caused the proposal; incarnation 0: another reason
  ReplicaIncarnation last_leader_;    // of the entry read before
  ReplicaIncarnation last_acceptor_;  // likewise
  bool no_candidate_ = false;
  bool acceptor_silent_ = false;    // since the takeover began
  int fence_ticks_ = 0;
  int candidate_ticks_ = 0;
  std::uint64_t pings_ = 0;
  bool deposed_ = false;
};

}  // namespace ingot::replication_agreement_one_paxos
