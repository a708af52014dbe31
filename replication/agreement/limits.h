// Bounds of agreement, with their units, and what happens at the limit. Bounds that other layers need, too, are in
// core/limits.h.
#pragma once

#include <cstddef>

#include "core/limits.h"
#include "replication/stable/write.h"

namespace ingot {

// ---- What an AcceptorChange carries ---------------------------------------------------------------------------------
// The in-flight entries go by value, since any next leader must know them even while their author is stopped. So all of
// them fit into one entry of the configuration log, and every slot that can be undecided fits into them.
inline constexpr std::size_t kInFlightBytesMax = 3 * 1024 * 1024;
// Of decided slots: repeating them saves a voter that is a little behind a Fetch. A joining replica that still loads
// its state lacks the whole log; storing that three times would take longer than the rest of a failover
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
// LeaderChanges of one epoch. At the limit a leader must begin a new epoch; further LeaderChanges are refused.
inline constexpr int kEpochLeadersMax = 1024;
// A replica's stored state of the configuration log: the entries of this epoch, and one accepted for the next index.
inline constexpr std::size_t kConfigurationStateBytesMax =
    2 * kConfigurationEntryBytesMax + (kEpochLeadersMax + 8) * kConfigurationEntryBytes;
static_assert(kConfigurationStateBytesMax <= kStableConfigurationBytesMax, "stable storage has room for it");

// ---- Suspicion, in ticks of kTickMs ---------------------------------------------------------------------------------
inline constexpr int kSuspectTicks = 10;      // silence after a question; more if answers were slower
inline constexpr int kSuspectTicksMax = 640;  // bound of adaptation and back-off
inline constexpr int kSuspectSafety = 4;      // times the slowest recent answer
inline constexpr int kCalmAnswers = 64;       // answers in a row that halve the back-off

}  // namespace ingot
