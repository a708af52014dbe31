// What a replica's core shows of itself: its status, with what keeps the group from deciding, and its page.
#include "replication/pages/page_access.h"
#include "replication/replica/core.h"

namespace ingot::inline replication_replica {

// While commands wait, here or in doubt, only decisions count as progress, and parts of a long command that is applied;
// else confirmed reads, too.
void ReplicaCore::look_at_status() {
  status_ = agreement_->status();
  add_own_causes(status_);
  const bool commands_wait = !proposals_.idle() || status_.blocked_from != status_.blocked_to;
  const std::uint64_t reads = commands_wait ? 0 : confirmed_reads_;
  stall_.observe(status_, status_.decided.value() + part_applies_ + reads, now_ns_);
  const bool leads = status_.role == Role::kLeader && status_.blocked_from == status_.blocked_to;
  if (leads && status_.blocked && status_.decided < status_.proposed) {
    status_.blocked_from = status_.decided;
    status_.blocked_to = status_.proposed;
  }
  log_.observe(status_, now_ns_);
}

// What agreement does not know.
void ReplicaCore::add_own_causes(AgreementStatus& status) const {
  const bool may_lead_later = status.why == Blocked::kLeaderSilent || status.why == Blocked::kLeaderDead;
  if (loading_ && (may_lead_later || status.why == Blocked::kCatchingUp)) {
    status.why = Blocked::kLoading;
    status.blocked_by = ReplicaSet();
  }
  if (status.why != Blocked::kNo || status.role != Role::kLeader || proposals_.idle()) return;
  const bool full = proposals_.held_up() && !compaction_.group_has_room();
  if (full) status.why = compaction_.segments_full() ? Blocked::kSegmentsKept : Blocked::kNoRoom;
  else status.why = Blocked::kUnexplained;
}

void ReplicaCore::publish() {
  const AgreementStatus& status = status_;
  ReplicaPage& page = page_;
  page[ReplicaCounter::kAppliedCommands].set(applier_.applied_commands());
  page[ReplicaCounter::kDuplicateCommands].set(applier_.duplicate_commands());
  page[ReplicaCounter::kRefusedCommands].set(applier_.refused_commands());
  page[ReplicaCounter::kMalformedBatches].set(applier_.malformed_batches());
  page[ReplicaCounter::kRefusedMessages].set(agreement_->refused_messages() + requests_.refused() + refused_ +
                                            snapshots_.refused());
  const bool led = page[ReplicaCounter::kRole].get() == static_cast<std::uint64_t>(Role::kLeader) &&
                   page[ReplicaCounter::kBallot].get() == status.ballot.value();
  if (status.role == Role::kLeader && !led) page[ReplicaCounter::kLeaderships].add(1);
  page[ReplicaCounter::kRole].set(static_cast<std::uint64_t>(status.role));
  page[ReplicaCounter::kEpoch].set(status.epoch.value());
  page[ReplicaCounter::kBallot].set(status.ballot.value());
  page[ReplicaCounter::kLeader].set(status.leader.value());
  page[ReplicaCounter::kAcceptor].set(status.acceptor.value());
  page[ReplicaCounter::kBlocked].set(status.blocked ? 1 : 0);
  page[ReplicaCounter::kBlockedBy].set(status.blocked ? status.blocked_by.bits() : 0);
  page[ReplicaCounter::kBlockedWhy].set(status.blocked ? static_cast<std::uint64_t>(status.why) : 0);
  page[ReplicaCounter::kBlockedFrom].set(status.blocked ? status.blocked_from.value() : 0);
  page[ReplicaCounter::kBlockedTo].set(status.blocked ? status.blocked_to.value() : 0);
  page[ReplicaCounter::kBlockedSinceNs].set(stall_.blocked_since_ns());
  page[ReplicaCounter::kDigest].set(applier_.digest());
  page[ReplicaCounter::kStableUsedBytes].set(compaction_.used_bytes());
  page[ReplicaCounter::kSnapshotsMade].set(snapshots_.made());
  broadcaster_.publish(page);
  publish_progress(page, {status.decided, applier_.applied()});
}

}  // namespace ingot::replication_replica
