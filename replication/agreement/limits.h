// Bounds of agreement, with their units, and what happens when they are reached. Those that others need too are in
// core/limits.h.
#pragma once

#include <cstddef>

#include "core/limits.h"
#include "replication/stable/write.h"

namespace ingot {

// ---- What an AcceptorChange carries ---------------------------------------------------------------------------------
// The in-flight entries go by value: it must be known to whoever can be the next leader, also while its author is
// stopped. So it has to fit into one entry of the configuration log, and everything that can be in doubt has to fit
// into it.
inline constexpr std::size_t kInFlightBytesMax = 3 * 1024 * 1024;
// Of decided slots: it spares a voter who is a little behind a question. A joining replica that still loads its state lacks all of
// the log, and storing that thrice would take longer than the rest of a failover (docs/design/one-paxos.md).
inline constexpr std::size_t kRepeatBytesMax = 64 * 1024;
inline constexpr std::size_t kInFlightSlotBytes = 16;     // of one slot in the in-flight entries, besides its command
inline constexpr std::size_t kConfigurationEntryBytes = 64;  // of an entry of the configuration log, besides its carry
inline constexpr std::size_t kConfigurationEntryBytesMax = kConfigurationEntryBytes + kInFlightBytesMax;
// Bytes of slots that a leader has proposed and that are not decided up to the first gap, before its last batch: a
// leader with more takes no proposal. One more batch of the largest size still fits into the in-flight entries.
inline constexpr std::size_t kProposalWindowBytesMax =
    kInFlightBytesMax - kBatchBytesMax - (kWindowSlots + 1) * kInFlightSlotBytes;
static_assert(kProposalWindowBytesMax > 512 * 1024, "a window is worth having");
static_assert(kConfigurationEntryBytesMax + 1024 < kMessageBytesMax, "an entry is one message");

// ---- The configuration log ------------------------------------------------------------------------------------------
// LeaderChanges of one epoch. At the limit a leader must renew its epoch; leaders that never get that far are refused.
inline constexpr int kEpochLeadersMax = 1024;
// What a replica stores of the configuration log: the entries of this epoch and one that it accepted for the next index.
inline constexpr std::size_t kConfigurationStateBytesMax =
    2 * kConfigurationEntryBytesMax + (kEpochLeadersMax + 8) * kConfigurationEntryBytes;
static_assert(kConfigurationStateBytesMax <= kStableConfigurationBytesMax, "stable storage has room for it");

// ---- Suspicion, in ticks of kTickMs -----------------------------------------------------------------------------------
inline constexpr int kSuspectTicks = 10;      // without a sign of life that was asked for; more if answers were slower
inline constexpr int kSuspectTicksMax = 640;  // adaptation and back-off end here
inline constexpr int kSuspectSafety = 4;      // times the slowest answer of late
inline constexpr int kCalmAnswers = 64;       // in a row that halve the back-off

}  // namespace ingot
