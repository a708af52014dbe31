// Bounds of watches, each of one loop unless it says otherwise, and what happens when one is reached.
#pragma once

#include <cstddef>
#include <cstdint>

#include "replication/store/limits.h"

namespace ingot::watch {

// A connection may have as many watches, key bytes and streams as are still free: so the first greedy client gets half,
// the next half of the rest. After some of these nothing is free; so each connection has a few of its own besides,
// whatever others have. They take less memory than the connection itself (some 14 KiB).
inline constexpr std::size_t kWatchesMax = 65'536;                     // beyond: created and canceled, with a sentence
inline constexpr std::size_t kWatchKeyBytesMax = 32 * 1024 * 1024;     // of their ranges: likewise
// Calls of Lock and Election that wait for a key (services/locks) have each a stream with one watch.
inline constexpr std::size_t kWatchStreamsMax = 16'384;                // beyond: RESOURCE_EXHAUSTED
inline constexpr std::size_t kEndedIdsMax = 64;                        // of a stream; then the oldest is free again
inline constexpr std::size_t kWatchesOwn = 8;                          // of each connection
inline constexpr std::size_t kWatchKeyBytesOwn = 2 * 1024;             // likewise
inline constexpr std::size_t kWatchStreamsOwn = 1;                     // likewise
inline constexpr std::size_t kParkedRequestsMax = 64;                  // of a stream; more are not read yet
inline constexpr std::size_t kAnswerBytesMax = 512;  // of a request's answer; so many of them as a share holds are read
inline constexpr std::size_t kParkedBytesMax = 8 * 1024 * 1024;        // requests that wait; more are not read yet

// What waits for the clients of watches.
inline constexpr std::size_t kSharesBytes = 32 * 1024 * 1024;  // divided between connections, then their streams
inline constexpr std::size_t kShareBytesMin = 2 * 1024;        // a stream with more unsent gets no response
inline constexpr std::size_t kShareBytesMax = 32 * 1024;       // likewise
// Responses above twice the share; others wait in line, by turns between connections. A connection has at most as many
// of these turns as are still free.
inline constexpr std::size_t kTurnsMax = 4;
inline constexpr std::size_t kResponseBytesMax = 64 * 1024 * 1024;  // of one revision; a watch with more is canceled
// A turn's clock runs from its begin. While others wait, the stream of one ends that has lasted for kTurnMs, or in
// which the client has taken less than kTurnBytesMin for kTurnStalledMs. A turn that was granted and not begun goes to
// the next in line after kTurnMs, and after kTurnStalledMs if the client's share is full.
inline constexpr std::uint64_t kTurnMs = 10'000;
inline constexpr std::uint64_t kTurnStalledMs = 1000;
inline constexpr std::size_t kTurnBytesMin = 64 * 1024;
inline constexpr std::size_t kFragmentBytes = 2 * 1024 * 1024;  // a response that may be cut is, below this (as etcd)

// Reading.
inline constexpr std::uint32_t kEventsPageBytes = 256 * 1024;  // of an answer's events; about 2 ms of matching
inline constexpr std::size_t kCoverRangesMax = kEventRangesMax;  // ranges that are asked for; neighbours are joined
inline constexpr std::size_t kCoverKeyBytesMax = 128;  // of a range's ends; longer ones are widened
inline constexpr std::size_t kCoverWatchesMax = 256;  // behind: up to here a page asks for what they want only
inline constexpr std::uint64_t kEventsRetryMs = 50;   // after a question that no replica has answered
inline constexpr std::uint64_t kLagLookMs = 1000;     // between two looks whether the feed's replica lags

// A round's work.
inline constexpr std::size_t kPairsMax = kWatchesMax;       // (watch, event) of an answer; the rest is read again
inline constexpr std::size_t kPairsPerRound = 4096;         // given to streams, about 1 ms
inline constexpr std::size_t kBytesPerRound = 1024 * 1024;  // likewise
inline constexpr std::size_t kWideEventsPerRound = 16'384;  // looked at for a response of a wide revision
inline constexpr std::size_t kScannedPerRound = 4096;       // watches, after a compaction and for notices
inline constexpr std::uint64_t kWideHoldMs = 100;  // a wide revision stays collected for those that wait for a turn

inline constexpr std::uint64_t kLeaderLookMs = 500;      // while streams are there that demand a leader
inline constexpr int kLeaderLooksMax = 2;                // without a leader; then such streams end
inline constexpr std::int64_t kNotifyMsMin = 100;             // of --watch-progress-notify-interval, as in etcd
inline constexpr std::uint64_t kNotifyMs = 10 * 60'000;  // between progress notices of a watch without events

}  // namespace ingot::watch
