// Election of a leader: when to suspect the leader, when to stand, and what follows once a majority has promised.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/rule.h"
#include "replication/agreement/multi_paxos/ballot.h"
#include "replication/agreement/multi_paxos/multi_paxos.h"

namespace ingot::inline replication_agreement_multi_paxos {

void MultiPaxos::settle(Effects& effects) {
  handle_own(effects);
  if (voter_.promised() > following_) {
    follow(voter_.promised(), peers_.name(ballot_owner(voter_.promised(), group_.voters)));
  }
  beaten(voter_.promised(), effects);
  if (nobody_leads()) campaign_.leader_gone(rank());
  if (campaign_.due()) stand(effects);
  if (prepare_.ready()) take_over(effects);
  if (leader_.recovering()) leader_.feed(room_, effects);
  handle_own(effects);
}

// Notes a ballot that is in use, or about to be.
void MultiPaxos::follow(Ballot ballot, ReplicaIncarnation leader) {
  if (ballot <= following_) return;
  const bool unexplained = peers_.up(leader_name_.id) && !peers_.reported_stopped(leader_name_.id);
  if (leader.id != leader_name_.id && unexplained) suspicion_.count_timeout();
  following_ = ballot;
  leader_name_ = leader;
  leader_.set_leader_hint(leader.id);
  suspicion_.stop();
}

// Notes the leader from a message that only a leader sends.
void MultiPaxos::on_leader_message(EndpointId from, const Message& message) {
  if (message.ballot < following_ || ballot_owner(message.ballot, group_.voters) != from) return;
  follow(message.ballot, {from, message.incarnation});
  leader_name_ = {from, message.incarnation};
  campaign_.leader_alive();
  suspicion_.answered();
}

// A voter has promised ballot `by`: a lower one of this replica cannot win.
void MultiPaxos::beaten(Ballot by, Effects& effects) {
  if (leader_.leading() && by > leader_.ballot()) leader_.depose(leader_name_.id, effects);
  if (!prepare_.under_way() || by <= prepare_.ballot()) return;
  prepare_.give_up();
  campaign_.beaten(by);
}

void MultiPaxos::on_abandon(EndpointId from, const Message& abandon, Effects& effects) {
  if (from.value() >= group_.voters || abandon.epoch != Epoch(1)) return mailbox_.refuse();
  if (abandon.ballot <= following_) return beaten(abandon.ballot, effects);
  follow(abandon.ballot, peers_.name(ballot_owner(abandon.ballot, group_.voters)));
  beaten(abandon.ballot, effects);
}

bool MultiPaxos::nobody_leads() const {
  const bool gone = leader_is_dead() || leader_is_doubted();
  return voter_.active() && !leader_.leading() && !prepare_.under_way() && gone;
}

// The named leader is dead or was an earlier incarnation of this replica, or this replica has given up its candidacy.
// REQUIRES: this replica neither leads nor is a candidate.
bool MultiPaxos::leader_is_dead() const {
  if (leader_name_.id == group_.self) return true;
  const bool known = leader_name_.incarnation > Incarnation(0);
  return known ? peers_.dead(leader_name_) : !peers_.up(leader_name_.id);
}

// The kernel has reported it stopped, and no message has come from it since.
bool MultiPaxos::leader_is_doubted() const {
  return leader_name_.id != group_.self && peers_.doubted(leader_name_.id);
}

// Voters that are alive and lie between the old leader and this one in the order of ids.
int MultiPaxos::rank() const {
  int before = 0;
  for (int i = 1; i < group_.voters; ++i) {
    const EndpointId voter(static_cast<std::uint16_t>((leader_name_.id.value() + i) % group_.voters));
    if (voter == group_.self) break;
    before += peers_.up(voter) && !peers_.suspected(voter);
  }
  return before;
}

void MultiPaxos::stand(Effects& effects) {
  if (!voter_.active() || leader_.leading() || prepare_.under_way()) return;
  const auto ballot = next_ballot(std::max(following_, voter_.promised()), group_.self, group_.voters);
  if (!ballot) return;
  prepare_.start(*ballot, effects);
  handle_own(effects);
  follow(*ballot, {group_.self, group_.incarnation});
}

void MultiPaxos::take_over(Effects& effects) {
  const Ballot ballot = prepare_.ballot();
  std::vector<Leader::Recovered> recovered = prepare_.take();
  if (!INGOT_RULE("proposes-all-again")) recovered.clear();
  leader_.take_over(ballot, learner_.decided(), std::move(recovered), room_, effects);
  has_led_ = true;
  campaign_.leader_alive();
  mailbox_.broadcast(
      {.type = MessageType::kCommitHint, .epoch = Epoch(1), .ballot = ballot, .slot = learner_.end()}, effects);
  handle_own(effects);
}

void MultiPaxos::peer_died(ReplicaIncarnation name, Effects& effects) {
  if (name.id.value() >= group_.replicas || name.id == group_.self || !peers_.died(name)) return;
  settle(effects);
}

void MultiPaxos::peer_started(ReplicaIncarnation name, Effects& effects) {
  if (name.id.value() >= group_.replicas || name.id == group_.self || !peers_.note_alive(name)) return;
  leader_.restarted(name.id);
  settle(effects);
}

void MultiPaxos::peer_stopped(ReplicaIncarnation name, Effects& effects) {
  const bool other = name.id.value() < group_.replicas && name.id != group_.self;
  if (other && peers_.doubt(name)) settle(effects);
}

// A candidacy that has not begun is called off: should the leader not answer, a client that waits brings it back. But a
// leader of an earlier incarnation is dead for good.
void MultiPaxos::peer_continued(ReplicaIncarnation name, Effects&) {
  if (name.id.value() >= group_.replicas || name.id == group_.self || !peers_.end_doubt(name)) return;
  const bool leads = name.id == leader_name_.id && !leader_is_dead();
  if (leads && !prepare_.under_way()) campaign_.leader_alive();
}

void MultiPaxos::tell(EndpointId peer, Effects& effects) {
  const Ballot ballot = leader_.leading() ? leader_.ballot() : Ballot(0);
  if (learner_.end() == Slot(0) && ballot == Ballot(0)) return;
  mailbox_.send(
      peer, {.type = MessageType::kCommitHint, .epoch = Epoch(1), .ballot = ballot, .slot = learner_.end()}, effects);
}

// Sends a new incarnation the entries it lacks, the leader in force, and any question that its predecessor has not
// answered.
void MultiPaxos::on_hello(EndpointId from, Effects& effects) {
  tell(from, effects);
  if (from.value() < group_.voters) leader_.resend(effects);
  prepare_.ask(from, effects);
}

void MultiPaxos::client_waits(Effects& effects) {
  const bool suspects = !leader_.leading() && !prepare_.under_way() && leader_name_.id != group_.self;
  if (!suspects || suspicion_.waiting()) return;
  suspicion_.expect();
  mailbox_.send(leader_name_.id, {.type = MessageType::kPing, .epoch = Epoch(1), .ballot = following_}, effects);
}

void MultiPaxos::ask_leader(Effects& effects) {
  switch (suspicion_.tick()) {
    case Suspicion::Verdict::kNone:
      return;
    case Suspicion::Verdict::kAskAgain:
      mailbox_.send(leader_name_.id, {.type = MessageType::kPing, .epoch = Epoch(1), .ballot = following_}, effects);
      return;
    case Suspicion::Verdict::kSuspicious:
      peers_.suspect(leader_name_.id);
      effects.suspects.push_back(leader_name_.id);
      leader_suspected(effects);
  }
}

// A replica that may not lead reports the silent leader to the voters, which may; they then ask the leader themselves.
void MultiPaxos::leader_suspected(Effects& effects) {
  if (voter_.active()) return campaign_.leader_gone(rank());
  for (std::uint16_t voter = 0; voter < group_.voters; ++voter) {
    const EndpointId to(voter);
    if (to != group_.self && to != leader_name_.id) mailbox_.send(to, {.type = MessageType::kSuspectLeader}, effects);
  }
}

// A replica that neither leads nor stands for leader does not count as a leader.
void MultiPaxos::on_pong(EndpointId from, const Message& pong, Effects& effects) {
  if (from != leader_name_.id) return;
  suspicion_.answered();
  if (pong.verdict || pong.ballot > following_) return;
  if (!leader_.leading() && !prepare_.under_way()) leader_suspected(effects);
}

absl::Status MultiPaxos::move(Role role, EndpointId to, Effects& effects) {
  if (role != Role::kLeader) return absl::InvalidArgumentError("Multi-Paxos has no acceptor that could be moved");
  if (to.value() >= group_.voters) {
    return absl::InvalidArgumentError(absl::StrCat("replica ", to.value(), " is no voter, so it cannot lead"));
  }
  if (to != group_.self) return absl::FailedPreconditionError("only the future leader itself can take over");
  if (leader_.leading()) return absl::AlreadyExistsError("this replica leads already");
  if (!voter_.active()) {
    return absl::FailedPreconditionError("this replica does not know what its predecessor promised, so it cannot lead");
  }
  if (prepare_.under_way()) return absl::FailedPreconditionError("this replica is taking over already");
  stand(effects);
  settle(effects);
  return absl::OkStatus();
}

}  // namespace ingot::replication_agreement_multi_paxos
