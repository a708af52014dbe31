// Bounds of agreement, with their units, and what happens at the limit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/limits.h"
#include "replication/requests/limits.h"
#include "replication/stable/write.h"

namespace ingot::inline replication_agreement {

// ---- Windows, logs and repetition, of all agreements ----------------------------------------------------------------
inline constexpr int kWindowSlots = 64;  // slots proposed and undecided; further commands wait at the leader
inline constexpr std::size_t kWindowBytesMax = 8 * 1024 * 1024;  // bytes of those slots; further batches wait likewise
// Decided entries kept for learners that fell behind; a learner that is further back needs a snapshot. Enough for the
// slots decided while a joining replica loads a large state on a busy core (docs/design/snapshots.md).
inline constexpr int kCommandLogSlots = 256 * 1024;
inline constexpr std::size_t kCommandLogBytesMax = 128 * 1024 * 1024;
inline constexpr int kTickMs = 5;  // between two Agreement::tick calls, while there is something to wait for
inline constexpr std::uint64_t kConfigurationEntriesMax = 0xffff'ffff;  // epochs and ballots; on the wire in 32 bits
inline constexpr std::uint64_t kSlotsMax = std::uint64_t{1} << 62;      // a message about a later slot is refused
// Without progress, outstanding messages are sent again after this many ticks, then after twice as many, and so on.
inline constexpr int kRetransmitTicks = 20;
inline constexpr int kRetransmitTicksMax = 640;
inline constexpr std::size_t kRetransmitBytesMax = 4 * 1024 * 1024;  // sent again at once; the rest the next time
// Decided entries that a learner keeps above a gap. Entries that do not fit are dropped, and fetched once the gap has
// closed.
inline constexpr int kLearnerAheadSlots = 1024;
inline constexpr std::size_t kLearnerAheadBytesMax = 64 * 1024 * 1024;
inline constexpr int kFetchEntriesMax = 256;                     // of one answer; the asker then asks for more
inline constexpr std::size_t kFetchBytesMax = 1024 * 1024;       // of one answer, unless its first entry is larger
inline constexpr int kFetchTicks = 20;                           // without an answer another peer is asked
// Multi-Paxos: a voter that has decided less than this far below a slot does not vote for it until it has caught up.
inline constexpr int kVoteAheadSlots = 4096;
// 2PC: prepared and undecided bytes at a participant; it votes no to what does not fit.
inline constexpr std::size_t kPreparedBytesMax = 32 * 1024 * 1024;
inline constexpr int kPendingReadsMax = 16 * 1024;  // linearizable reads that wait; at the limit "busy"

static_assert(kWindowSlots < kCommandLogSlots);
static_assert(kWindowSlots <= kLearnerAheadSlots && kWindowSlots <= kVoteAheadSlots);
static_assert(kWindowBytesMax + kBatchBytesMax < kLearnerAheadBytesMax,
              "else a decided slot could be forgotten by all");
static_assert(kFetchBytesMax + kBatchBytesMax < kMessageBytesMax, "the last entry of an answer may be a large one");
static_assert(kWindowBytesMax + kBatchBytesMax < kPreparedBytesMax, "an honest coordinator never makes one vote no");

// ---- Content of an AcceptorChange -----------------------------------------------------------------------------------
// It holds the in-flight entries by value, since any next leader must know them even while their author is stopped. So
// all of them must fit into one entry of the configuration log, and every slot that can be undecided into them.
inline constexpr std::size_t kInFlightBytesMax = 3 * 1024 * 1024;
// Bytes of decided slots in it: repeating them saves a voter that is a little behind a Fetch. A joining replica that
// still loads its state lacks the whole log; storing that three times would take longer than the rest of a failover
// (docs/design/one-paxos.md).
inline constexpr std::size_t kRepeatBytesMax = 64 * 1024;
inline constexpr std::size_t kInFlightSlotBytes = 16;  // of one slot in the in-flight entries, besides its command
inline constexpr std::size_t kConfigurationEntryBytes = 64;  // of one configuration entry, besides its in-flight
                                                             // entries
inline constexpr std::size_t kConfigurationEntryBytesMax = kConfigurationEntryBytes + kInFlightBytesMax;
// Bytes of slots that a leader has proposed and that are not decided up to the first gap, before its last batch. A
// leader with more takes no proposal. One more batch of the largest size still fits into the in-flight entries.
inline constexpr std::size_t kProposalWindowBytesMax =
    kInFlightBytesMax - kBatchBytesMax - (kWindowSlots + 1) * kInFlightSlotBytes;
static_assert(kProposalWindowBytesMax > 512 * 1024, "a window is worth having");
static_assert(kConfigurationEntryBytesMax + 1024 < kMessageBytesMax, "an entry is one message");

// ---- The configuration log ------------------------------------------------------------------------------------------
// LeaderChanges of one epoch that a replica keeps; the oldest are dropped. They name the leaders that a walk-back asks.
// It ends at the first that has led, so it would need a dropped one only after so many leaders in a row that ended
// before they led; then it waits for the acceptor.
inline constexpr int kLeaderChangesKept = 1024;
// A replica's stored state of the configuration log: the entries of this epoch, and one accepted for the next index.
inline constexpr std::size_t kConfigurationStateBytesMax =
    2 * kConfigurationEntryBytesMax + (kLeaderChangesKept + 8) * kConfigurationEntryBytes;
static_assert(kConfigurationStateBytesMax <= kStableConfigurationBytesMax, "stable storage has room for it");

// ---- Suspicion, in ticks of kTickMs ---------------------------------------------------------------------------------
inline constexpr int kSuspectTicks = 10;      // silence after a question; more if answers were slower
inline constexpr int kSuspectTicksMax = 640;  // bound of adaptation and back-off
inline constexpr int kSuspectSafety = 4;      // times the slowest recent answer
inline constexpr int kCalmAnswers = 64;       // answers in a row that halve the back-off

}  // namespace ingot::replication_agreement
