// Bounds of a replica: pipeline, backlogs, queues and sessions, with their units, and what happens at the limit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/limits.h"
#include "replication/agreement/limits.h"
#include "replication/store/limits.h"

namespace ingot::inline replication_replica {

// With this many undecided slots the leader lets a batch grow until it is full. Where replicas share a core, each slot
// costs a process switch for each replica, so one slot at a time is best; on cores of their own there are no switches.
inline constexpr int kPipelineSlotsSharedCore = 1;
inline constexpr int kPipelineSlotsOwnCore = 16;
inline constexpr int kTrimSlots = 256;  // slots applied everywhere before the stable segment is trimmed again
// A voter drops a proposal, which its leader repeats, if less than this would remain free. That is for what a replica
// stores when it takes over: its older records of the same slots become obsolete, but only afterwards.
inline constexpr std::size_t kTakeoverParts = 6;  // the segment's room for records is divided by this
// Messages that wait for one peer whose channel is full. At the limit new ones are dropped; agreement sends again
// when the peer drains (Agreement::peer_drained).
inline constexpr std::size_t kBacklogBytesMax = 64 * 1024 * 1024;
inline constexpr int kBacklogMessagesMax = 16 * 1024;
// Commands at the leader that are not decided yet. At the limit a request is answered "busy".
inline constexpr int kLeaderQueueCommandsMax = 16 * 1024;
inline constexpr std::size_t kLeaderQueueBytesMax = 64 * 1024 * 1024;
inline constexpr int kSessionsMax = 256;                // clients remembered; the longest silent one is forgotten
inline constexpr int kSessionWindow = 16 * 1024;        // requests of one client that may be outstanding
// Results kept for retries, of one client and of all. Beyond these, the oldest are dropped, and a retry of such a
// command is answered that its result is gone.
inline constexpr std::size_t kSessionResultsBytesMax = 64 * 1024 * 1024;
inline constexpr std::size_t kSessionsBytesMax = 256 * 1024 * 1024;
// What a round of the loop applies, in steps (StepBudget in replication/store/state_machine.h), and what it does of long
// queries: about a millisecond. The rest waits for the next round.
inline constexpr std::int64_t kApplySteps = 2 * 1024;
// Queries that take many rounds (QueryInSteps); a further one is answered "busy". Only a few have begun, since each that
// has holds what it has found. One that takes longer than its client waits (kRequestTimeoutMs in
// replication/client/limits.h) is ended, and answered "busy".
inline constexpr std::size_t kLongQueriesMax = 64;
inline constexpr std::size_t kLongQueriesBegunMax = 4;
inline constexpr std::uint64_t kLongQueryMs = 7'000;
// Decided commands that wait to be applied. Beyond it a round applies on until less waits.
inline constexpr std::size_t kUnappliedBytesMax = 64 * 1024 * 1024;
// Local queries that wait until this replica has applied what their clients have seen, and the bytes of these. At a
// bound those go that wait for kFloorReadMs, since their clients have asked others by then; a further one is answered
// "busy".
inline constexpr std::size_t kFloorReadsMax = 4 * 1024;
inline constexpr std::size_t kFloorReadsBytesMax = 64 * 1024 * 1024;
inline constexpr std::uint64_t kFloorReadMs = 500;
// So long after its arrival a standing query is answered at the next command, though there is nothing to say but how far
// the state has come: so its client is never much behind.
inline constexpr int kStandingOverdueMs = 100;
// Ticks (replication/replica/state_clock.h), while the state's time runs: one so long after the other, and how much of
// the time that its decision takes the next one counts at most.
inline constexpr std::uint64_t kTickPeriodMs = 250;
inline constexpr std::uint64_t kTickDecisionMaxMs = 100;
// While the state's time runs, a replica that sees no new tick for so long asks whether the leader lives.
inline constexpr std::uint64_t kTickSilenceMs = 1000;
// Without a decision that a client, or the group itself, waits for: then the status, the metrics and the log say what
// it waits for. Less than this is normal, as while a leader is replaced.
inline constexpr int kBlockedAfterMs = 1000;

static_assert(2 * kMessageBytesMax < kBacklogBytesMax);
static_assert(kTickPeriodMs < kTickMaxMs, "a tick that is a little late carries all the time that has passed");
static_assert(kTickMaxMs + kTickDecisionMaxMs <= kLeaseGraceMs, "no lease ends early");
static_assert(kTickPeriodMs + kTickMaxMs < kTickSilenceMs, "a tick that is lost once is proposed again before");
static_assert(kResultBytesMax < kSessionResultsBytesMax, "the newest result is kept");
static_assert(kSessionResultsBytesMax <= kSessionsBytesMax);
// Everything that a leader sends when a backlog has drained (all outstanding proposals, an entry, a question, a commit
// hint) fits into an empty backlog. Otherwise each drain would cause the next.
static_assert(kWindowSlots + 4 < kBacklogMessagesMax && kRetransmitBytesMax + 2 * kMessageBytesMax < kBacklogBytesMax);

}  // namespace ingot::replication_replica
