// Bounds of the key-value store, with their units, and what happens at the limit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/limits.h"
#include "replication/requests/limits.h"

namespace ingot::inline replication_store {

inline constexpr int kTxnOperationsMax = 128;   // etcd's --max-txn-ops: "too many operations in txn request"
inline constexpr int kTxnDepthMax = 16;         // nested transactions; deeper ones are refused
// One step of a read, a page of a range or a part of a hash: the reader asks for the next. So one request keeps a
// replica for less than a millisecond.
inline constexpr std::size_t kPageBytesMax = 1000 * 1024;
inline constexpr std::uint32_t kStepEntriesMax = 2 * 1024;  // keys or versions that it looks at; more is kMalformed
inline constexpr std::size_t kPartBytesPerVersion = 256;     // a version with a longer value counts more than once
// A transaction that reads in steps begins anew when the revision that it reads is compacted; after so many times it is
// kCompacted.
inline constexpr int kTxnReadRestartsMax = 8;
// The answer to one request of the store; one that would be longer is refused before anything is changed.
inline constexpr std::size_t kResultBytesMax = 3 * 1024 * 1024;
// Superseded versions that one command frees, or more, until these are as many bytes as it has added; the rest waits.
inline constexpr int kCompactionStepVersions = 128;
// So many bytes of a command, and of a value that is compared or freed, take one step more (StepBudget in
// replication/store/state_machine.h).
inline constexpr std::int64_t kStepBytes = 1024;
// Below the compacted revision, that a command drops, besides as many as it has added; the rest waits.
inline constexpr std::size_t kChangeLogStepEntries = 1024;
// An answer with events (replication/store/events.h). What does not fit comes with the next one.
inline constexpr std::size_t kEventsBytesMax = 1024 * 1024;  // of its events, unless one alone has more
inline constexpr std::size_t kEventsLookedMax = 8 * 1024;    // changes that are looked at for it
inline constexpr std::size_t kEventRangesMax = 64;           // of one request: kMalformed
// Leases (replication/store/leases.h). The keys of a lease are bounded by the quota alone.
inline constexpr std::size_t kLeasesMax = 256 * 1024;          // of a store; another grant is refused
inline constexpr std::int64_t kLeaseTtlMinS = 2;               // a shorter one is granted as this, as etcd's by default
inline constexpr std::int64_t kLeaseTtlMaxS = 9'000'000'000;   // as etcd's: "too large lease TTL"
inline constexpr std::int64_t kLeaseGraceMs = 600;             // that a lease lasts longer, so that none ends early
inline constexpr std::size_t kKeepAlivesMax = 1024;            // leases of one command; more are kMalformed
inline constexpr std::uint32_t kTickMaxMs = 500;               // that one tick is about; more is kMalformed
// That one tick ends at most: so many leases, and fewer once these had as many keys; the next tick goes on. All keys of
// a lease go together, however many.
inline constexpr int kTickEndedLeases = 256;
inline constexpr std::size_t kTickEndedKeys = 1024;
inline constexpr int kTickLooks = 4 * 1024;  // leases that one tick finds to have been given more time
inline constexpr int kKeyIndexPartsLog2 = 10;  // the index of keys has 1,024 tables (replication/store/key_index.h)
inline constexpr std::size_t kKeyIndexKeptSlots = 16;  // a table of so many or fewer does not shrink

static_assert(kPageBytesMax + kRequestBytesMax < kResultBytesMax, "the last value of a page may be a large one");
static_assert(kPageBytesMax + 2 * kRequestBytesMax + 4096 < kMessageBytesMax, "so may be the key of the next one");
static_assert(kResultBytesMax < kMessageBytesMax, "a message holds the largest answer with its header");
static_assert(2 * kRequestBytesMax + 1024 < kMessageBytesMax, "an event fits, with the value before it");
static_assert(kEventsBytesMax + 1024 < kMessageBytesMax);
static_assert(kLeasesMax * sizeof(std::int64_t) + 1024 < kResultBytesMax, "one answer lists all leases");

}  // namespace ingot::replication_store
