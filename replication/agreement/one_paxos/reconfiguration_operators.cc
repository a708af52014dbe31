// Moves that an operator asks for, and what status reports of the roles.
#include "absl/strings/str_cat.h"
#include "core/rule.h"
#include "replication/agreement/one_paxos/reconfiguration.h"

namespace ingot::inline replication_agreement_one_paxos {

namespace {

void wait_for(AgreementStatus& status, Blocked why, ReplicaSet by) {
  status.why = why;
  status.blocked_by = by;
}

}  // namespace

absl::Status OnePaxosReconfiguration::move(Role role, EndpointId to, Effects& effects) {
  const auto not_now = [](auto&&... parts) { return absl::FailedPreconditionError(absl::StrCat(parts...)); };
  const auto already = [to](const char* what) {
    return absl::AlreadyExistsError(absl::StrCat("replica ", to.value(), what, " already"));
  };
  if (to.value() >= state_.group.voters) {
    return absl::InvalidArgumentError(absl::StrCat("replica ", to.value(), " is no voter: roles go to replicas 0 to ",
                                                   state_.group.voters - 1));
  }
  if (role == Role::kLeader) {
    if (to != state_.group.self) return not_now("replica ", to.value(), " itself must be asked to lead");
    if (state_.leads(state_.self())) return already(" leads");
    if (state_.now().acceptor.id == to) return not_now("replica ", to.value(), " is the acceptor: move that first");
    if (!may_campaign()) return not_now("replica ", to.value(), " has not caught up since its restart");
    if (state_.log.proposing()) return not_now("a change is under way");
    campaign({}, effects);
    return absl::OkStatus();
  }
  if (role != Role::kAcceptor) return absl::InvalidArgumentError("only leader and acceptor can be moved");
  if (!state_.leader.leading()) return not_now("replica ", state_.now().leader.id.value(), " leads and must be asked");
  if (to == state_.group.self) return not_now("replica ", to.value(), " leads: it cannot be the acceptor, too");
  if (state_.peers.name(to) == state_.now().acceptor) return already(" is the acceptor");
  if (!state_.peers.up(to)) return not_now("replica ", to.value(), " is down");
  if (!state_.peers.fit(to)) return not_now("replica ", to.value(), " has not caught up since its restart");
  if (!change_acceptor(to, {}, effects)) return not_now("a change is under way, or a majority of the voters is down");
  return absl::OkStatus();
}

void OnePaxosReconfiguration::describe(AgreementStatus& status) const {
  status.frozen = state_.leader.frozen() && !takeover_.active();
  status.taking_over = takeover_.active();
  status.caught_up = state_.peers.caught_up(state_.group.self);
  status.deposed = deposed_;
  status.deposed_by = state_.now().leader.id;
  status.blocked = state_.log.starved() || no_candidate_;
  if (state_.log.starved() || (state_.log.proposing() && !no_candidate_)) {
    wait_for(status, Blocked::kNoMajority, state_.log.unanswered());
  } else if (no_candidate_) {
    wait_for(status, Blocked::kNoCandidate, ReplicaSet::of(state_.now().acceptor.id));
  } else if (state_.leads(state_.self())) {
    describe_leading(status);
  } else if (state_.peers.dead(state_.now().leader)) {
    wait_for(status, Blocked::kLeaderDead, ReplicaSet::of(state_.now().leader.id));
  } else if (leader_watch_.waiting() && INGOT_RULE("silence-is-named")) {
    wait_for(status, Blocked::kLeaderSilent, ReplicaSet::of(state_.now().leader.id));
  }
}

void OnePaxosReconfiguration::describe_leading(AgreementStatus& status) const {
  const ReplicaIncarnation acceptor = state_.now().acceptor;
  if (state_.peers.dead(acceptor) && !majority_up()) {
    wait_for(status, Blocked::kNoMajority, ReplicaSet::first(state_.group.voters) - voters_up());
  } else if (takeover_.active()) {
    describe_takeover(status);
  } else if (!state_.leader.leading()) {
    wait_for(status, Blocked::kSteppedDown, {});
  } else if (state_.leader.waits_for_acceptor()) {
    wait_for(status, Blocked::kAcceptor, ReplicaSet::of(acceptor.id));
  } else if (state_.learner.has_gap()) {
    wait_for(status, Blocked::kCatchingUp, {});
  }
}

void OnePaxosReconfiguration::describe_takeover(AgreementStatus& status) const {
  const ReplicaIncarnation acceptor = state_.now().acceptor;
  const bool silent = acceptor_silent_ || state_.peers.doubted(acceptor.id);
  if (recovery_.segment_missing()) {
    status.blocked = true;
    const EndpointId missing = recovery_.walking() ? recovery_.waits_for().id : acceptor.id;
    wait_for(status, Blocked::kSegmentMissing, ReplicaSet::of(missing));
  } else if (silent && recovery_.walking() && !state_.peers.dead(recovery_.waits_for())) {
    status.blocked = true;
    const EndpointId awaited = recovery_.waits_for().id;
    wait_for(status, awaited == acceptor.id ? Blocked::kAcceptor : Blocked::kFormerLeader, ReplicaSet::of(awaited));
  } else if (recovery_.awaits_segment() || recovery_.walking()) {
    const EndpointId unread = recovery_.awaits_segment() ? acceptor.id : recovery_.waits_for().id;
    wait_for(status, Blocked::kSegmentUnread, ReplicaSet::of(unread));
  } else if (takeover_.waits_for_acceptor() && !state_.peers.dead(acceptor)) {
    wait_for(status, Blocked::kAcceptor, ReplicaSet::of(acceptor.id));
  } else if (takeover_.waits_for_room()) {
    wait_for(status, Blocked::kNoRoom, {});
  } else {
    wait_for(status, Blocked::kCatchingUp, {});
  }
}

}  // namespace ingot::replication_agreement_one_paxos
