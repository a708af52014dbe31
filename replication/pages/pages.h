// Status that the processes of an instance publish in shared memory: each page has one writer and many readers.
// Zero-filled memory is a valid initial page.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/counters.h"
#include "core/limits.h"
#include "replication/agreement/agreement.h"

namespace ingot::inline replication_pages {

inline constexpr std::uint64_t kPageLayoutVersion = 8;

// Counters of one replica: X(id, metric name, kind, unit, help). The name becomes ingot_NAME{replica="N"}.
#define INGOT_REPLICA_COUNTERS(X)                                                                                     \
  X(kProposedSlots, "proposed_slots_total", kCounter, kSlots, "Slots this replica proposed as leader.")               \
  X(kDecidedSlots, "decided_slots_total", kCounter, kSlots, "Slots known to be decided here, contiguous from 0.")     \
  X(kAppliedSlots, "applied_slots_total", kCounter, kSlots, "Slots applied to the state here.")                       \
  X(kAppliedCommands, "applied_commands_total", kCounter, kCommands, "Commands applied to the state here.")           \
  X(kDuplicateCommands, "duplicate_commands_total", kCounter, kCommands,                                              \
    "Commands recognised as retries, not applied.")                                                                   \
  X(kRefusedCommands, "refused_commands_total", kCounter, kCommands,                                                  \
    "Decided commands refused: too many of their client were outstanding.")                                           \
  X(kMalformedBatches, "malformed_batches_total", kCounter, kEvents,                                                  \
    "Decided batches that did not decode and changed nothing.")                                                       \
  X(kAnsweredRequests, "answered_requests_total", kCounter, kEvents, "Answers sent to clients.")                      \
  X(kRefusedMessages, "refused_messages_total", kCounter, kMessages,                                                  \
    "Malformed, foreign or outdated messages refused.")                                                               \
  X(kBacklogDrops, "backlog_drops_total", kCounter, kEvents, "Messages dropped because a peer's backlog was full.")   \
  X(kBacklogBytes, "backlog_bytes", kGauge, kBytes, "Bytes that wait for peers whose channels are full.")             \
  X(kLoopWakeups, "loop_wakeups_total", kCounter, kEvents, "Times the loop was woken from sleep.")                    \
  X(kLoopSleeps, "loop_sleeps_total", kCounter, kEvents, "Times the loop went to sleep.")                             \
  X(kLoopPolls, "loop_polls_total", kCounter, kEvents, "Rounds of the loop.")                                         \
  X(kRole, "replica_role", kGauge, kNumber, "0 replica, 1 leader, 2 acceptor.")                                       \
  X(kEpoch, "replica_epoch", kGauge, kNumber, "Epoch of the configuration in force here.")                            \
  X(kBallot, "replica_ballot", kGauge, kNumber, "Ballot of the leadership in force here.")                            \
  X(kLeader, "replica_leader", kGauge, kNumber, "Id of the leader as known here.")                                    \
  X(kAcceptor, "replica_acceptor", kGauge, kNumber, "Id of the acceptor as known here.")                              \
  X(kBlocked, "replica_blocked", kGauge, kNumber, "1 while something keeps this replica's group from deciding.")      \
  X(kBlockedBy, "replica_blocked_by_mask", kGauge, kNumber,                                                           \
    "Sum of 2^n for each replica n that agreement waits for while blocked; 0: no particular one.")                    \
  X(kBlockedWhy, "replica_blocked_why", kGauge, kNumber,                                                              \
    "Why it is blocked, as docs/operating.md numbers the causes; 0: it is not.")                                      \
  X(kBlockedFrom, "replica_blocked_from_slot", kGauge, kSlots, "First slot that waits while blocked, if any does.")   \
  X(kBlockedTo, "replica_blocked_to_slot", kGauge, kSlots,                                                            \
    "Slots below it and from the first on wait while blocked.")                                                       \
  X(kBlockedSinceNs, "replica_blocked_since_seconds", kGauge, kNanoseconds,                                           \
    "Steady time since when it is blocked (not exported).")                                                           \
  X(kLeaderships, "leaderships_total", kCounter, kEvents, "Times that this replica began to lead.")                   \
  X(kSuspicions, "suspicions_total", kCounter, kEvents, "Replicas that took too long to answer, as seen here.")       \
  X(kDoubts, "doubts_total", kCounter, kEvents, "Replicas that the kernel reported stopped, as this one was told.")    \
  X(kFenced, "fenced_total", kCounter, kEvents, "Processes that this replica killed because only their end helps.")   \
  X(kStoreRevision, "store_revision", kGauge, kNumber, "Revision of the key-value store here.")                       \
  X(kStoreCompactRevision, "store_compact_revision", kGauge, kNumber, "Compacted revision of the store here.")        \
  X(kStoreKeys, "store_keys", kGauge, kNumber, "Live keys in the store here.")                                        \
  X(kStoreBytes, "store_bytes", kGauge, kBytes, "Bytes of keys and values, history included, in the store here.")     \
  X(kStoreLiveBytes, "store_live_bytes", kGauge, kBytes,                                                              \
    "Bytes that the quota counts of the keys that exist here, with their newest values.")                             \
  X(kStoreHistoryBytes, "store_history_bytes", kGauge, kBytes,                                                        \
    "Bytes that the quota counts of older values and of deletions that are not compacted.")                           \
  X(kStoreQuotaBytes, "store_quota_bytes", kGauge, kBytes,                                                            \
    "Beyond this sum of live and history bytes puts are refused; 0: there is no quota.")                              \
  X(kStoreNoSpace, "store_no_space", kGauge, kNumber,                                                                 \
    "1 while the NOSPACE alarm stands, and puts are refused.")                                                        \
  X(kStoreLeases, "store_leases", kGauge, kNumber, "Leases in the store here.")                                       \
  X(kStoreLeasesEnded, "store_leases_ended_total", kCounter, kEvents,                                                 \
    "Leases that ended here because their time was over.")                                                            \
  X(kTreeVersion, "tree_version", kGauge, kNumber,                                                                    \
    "Version of the broadcast trees in force here; each change adds one.")                                            \
  X(kTreeParent, "tree_parent", kGauge, kNumber,                                                                      \
    "Id of the replica that passes broadcasts on to this one; the root's is its own.")                                \
  X(kTreeBypassed, "tree_bypassed_mask", kGauge, kNumber, "Sum of 2^n for each replica n that is by-passed.")         \
  X(kTreeReason, "tree_reason", kGauge, kNumber, "Why: 0 initial, 1 by-pass, 2 return, 3 leader, 4 costs.")           \
  X(kRelayedMessages, "relayed_messages_total", kCounter, kMessages, "Copies of broadcasts passed on for others.")    \
  X(kLateRelays, "late_broadcasts_total", kCounter, kEvents,                                                          \
    "Broadcasts overtaken by newer ones, hence not handled.")                                                         \
  X(kHandledMessages, "handled_messages_total", kCounter, kMessages, "Messages received and sent.")                   \
  X(kBusyNs, "busy_seconds_total", kCounter, kNanoseconds, "Time from rounds that found work to the next.")           \
  X(kStableUsedBytes, "stable_used_bytes", kGauge, kBytes, "Bytes of records in this replica's stable segment.")      \
  X(kSnapshotsMade, "snapshots_made_total", kCounter, kEvents, "Snapshots that this replica made.")                   \
  X(kSnapshotPauseNs, "snapshot_pause_seconds_total", kCounter, kNanoseconds,                                         \
    "Time that making them stopped the loop.")                                                                        \
  X(kDigest, "replica_digest", kGauge, kNumber, "Digest of the state after the applied slots (not exported).")

enum class ReplicaCounter : std::uint16_t {
#define INGOT_X(id, name, kind, unit, help) id,
  INGOT_REPLICA_COUNTERS(INGOT_X)
#undef INGOT_X
      kCount
};

inline constexpr std::array<CounterSpec, static_cast<std::size_t>(ReplicaCounter::kCount)> kReplicaCounterSpecs{{
#define INGOT_X(id, name, kind, unit, help) {name, CounterKind::kind, CounterUnit::unit, help},
    INGOT_REPLICA_COUNTERS(INGOT_X)
#undef INGOT_X
}};
static_assert(std::all_of(kReplicaCounterSpecs.begin(), kReplicaCounterSpecs.end(), well_named));

// Traffic of one directed link, in messages and bytes. The sender writes those in `sent`, the receiver those in
// `received`.
struct LinkCounters {
  Counter messages;
  Counter bytes;
};

// Commands per decided batch: bucket b counts batches of at most kBatchBuckets[b] commands, the last one the rest.
inline constexpr std::array<int, 11> kBatchBuckets{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};

// Written by one replica's loop. One page a replica, which all its incarnations share: each begins with
// begin_incarnation (replication/pages/page_access.h).
struct ReplicaPage {
  Counter layout_version;
  // 0 from the begin of an incarnation until the replica is ready; then its number, and its state in DaemonPage may
  // become kUp. Both are set with release.
  Counter incarnation;
  std::array<Counter, static_cast<std::size_t>(ReplicaCounter::kCount)> counters;
  std::array<LinkCounters, kEndpointsMax> sent;      // by destination
  std::array<LinkCounters, kEndpointsMax> received;  // by source
  std::array<Counter, kBatchBuckets.size() + 1> batch_commands;  // histogram of commands per batch
  Counter batch_commands_sum;
  Counter log_lines_lost;  // by the processes of all incarnations; if replicas share one, on the page of one of them

  Counter& operator[](ReplicaCounter id) { return counters[static_cast<std::size_t>(id)]; }
  const Counter& operator[](ReplicaCounter id) const { return counters[static_cast<std::size_t>(id)]; }
};

// How much of the room for stable segments of ended incarnations is in use (docs/design/stable-storage.md).
enum class KeptSegments : std::uint8_t {
  kFew = 0,
  kMany = 1,  // a snapshot is made soon, to release some
  kFull = 2,  // and writes wait for it
};

enum class ProcessState : std::uint8_t { kStarting = 0, kUp = 1, kStopped = 2, kDead = 3 };

// What the supervisor knows of one child. For a new incarnation it stores the state first, then the incarnation, then
// the start time, then the pid; incarnation and pid with release. So a reader that gets the pid with get_acquire() sees
// the state and start time of that incarnation or a later one, and a reader that gets the incarnation does not take an
// earlier incarnation's death for its own. replication/pages/page_access.h has these stores and loads.
struct ProcessEntry {
  Counter pid;          // 0: none
  Counter started;      // start time, in kernel ticks since boot: a pid may be reused, a pid with its start time not
  Counter incarnation;  // of the running or last process
  Counter state;        // ProcessState; kStarting until the ReplicaPage shows it ready
  // The incarnation that the kernel has reported stopped and that is to be doubted for that: it has not gone on since,
  // and had not been stopped shortly before (docs/design/failure-detection.md). 0: none. State kStopped says less: also
  // a process that stops and goes on in turns is in it, and one whose parent is another supervisor.
  Counter doubted;
  Counter core;         // core that placement chose
};

// The store's revision at a time: CLOCK_MONOTONIC, which all processes of a machine share. Time 0: there is none. The
// time is 0 while the revision changes.
struct RevisionSample {
  Counter steady_ms;
  Counter revision;
};
inline constexpr std::size_t kRevisionSamplesMax = 108;

// Written by the supervisor. One page an instance.
struct DaemonPage {
  Counter layout_version;
  Counter start_unix_ms;
  Counter supervisor_pid;
  Counter supervisor_started;  // as in ProcessEntry, and set before the pid
  Counter supervisor_start_unix_ms;
  // When the former instance of this name began to serve, if it ended without a clean stop; 0: there was none, or it
  // was stopped.
  Counter lost_former_unix_ms;
  std::array<ProcessEntry, kReplicasMax> replicas;
  ProcessEntry front_end;
  // Number of replica deaths that the kernel has reported, each counted after its state is set. Set with release; a
  // reader that sees a new number looks for the dead replica in the entries.
  Counter deaths;
  // Number of changes of ProcessEntry::doubted of the replicas, each counted after the change. Set with release; a
  // reader that sees a new number looks at the entries.
  Counter doubts;
  Counter doubted_stops;    // of replicas, that the kernel has reported: those that are a reason to doubt,
  Counter undoubted_stops;  // and those that are none, since the process had been stopped shortly before
  // Slots below it are in a published snapshot that the supervisor holds. Set with release.
  Counter published_slot;
  // Of stable segments of ended incarnations that are needed until a published snapshot holds what is in them.
  Counter kept_segments_bytes;
  Counter kept_segments;        // their number
  Counter kept_segments_state;  // KeptSegments
  Counter refused_messages;  // malformed or too long ones from the instance's processes, counted by the supervisor
  Counter log_lines_lost;    // by all supervisors
  Counter front_end_hangs;   // front ends that the supervisor killed since they answered nothing
  // Automatic compaction: the front end compacts to this revision; 0: to none yet. Supervisors find it by the samples,
  // which are the newest ones, in no order; each goes on with those of the one before.
  Counter compact_to;
  std::array<RevisionSample, kRevisionSamplesMax> revision_samples;
};

}  // namespace ingot::replication_pages
