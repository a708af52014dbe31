// Bounds of the gRPC server on a loop, with their units, and what happens at them. The server's part of
// docs/security.md lists them by attack.
#pragma once

#include <cstddef>
#include <cstdint>

#include "replication/requests/limits.h"

namespace ingot::rpc::inline server {

// Connections. At least so many descriptors of RLIMIT_NOFILE are for what is not a connection
// (services/serving/serving.h: connections_max).
inline constexpr int kDescriptorsReserved = 128;
inline constexpr int kConnectionsMax = 60'000;  // of a loop, and no more than RLIMIT_NOFILE leaves; then new ones wait
// At that number the oldest connection without any call is ended for a new one, if it is at least this old.
inline constexpr std::uint64_t kUncalledGraceMs = 1'000;
// If each has made one: the next connection, round-robin, that has had no call for so long. So many are checked for it
// in a try to accept.
inline constexpr std::uint64_t kIdleGraceMs = 10'000;
inline constexpr int kIdleLooksMax = 1024;
inline constexpr std::uint64_t kServerAcceptRetryMs = 100;  // between two tries to accept without a descriptor
inline constexpr int kAcceptsPerRound = 16;                 // of a listening socket; others wait for the next round
inline constexpr std::uint64_t kPrefaceTimeoutMs =
    10'000;                                // from accepting to the first whole frame or request; closed
inline constexpr int kTcpKeepAliveS = 60;  // idle time after which the kernel asks whether the peer lives

// Calls.
inline constexpr int kStreamsPerConnectionMax = 1536;  // concurrent calls of a connection; more wait at the client
// Calls with streams of messages last as long as clients want. A connection has at most kStreamingCallsMax of them
// if their methods are served here, and at most kStreamingCallsAllMax together with those that are passed on:
// RESOURCE_EXHAUSTED beyond. So a connection always has streams for calls that are passed on
// (services/rpc/passing/limits.h), and for those with one message.
inline constexpr int kStreamingCallsMax = 1024;
inline constexpr int kStreamingCallsAllMax = 1280;
inline constexpr std::size_t kGrpcReceiveBytesMax = kRequestBytesMax + 512 * 1024;  // as etcd: RESOURCE_EXHAUSTED
inline constexpr std::size_t kMetadataBytesMax = 8 * 1024;       // of a call, as HTTP/2 counts them: RESOURCE_EXHAUSTED
inline constexpr std::size_t kHeadBytesMax = 1024 * 1024;        // of a connection's open calls: RESOURCE_EXHAUSTED
// Of the answer to a call with JSON, before the loop turns it into JSON, which takes some ms. RESOURCE_EXHAUSTED.
inline constexpr std::size_t kJsonResponseBytesMax = 16 * 1024 * 1024;
inline constexpr std::size_t kStatusMessageBytesMax = 4 * 1024;  // of a status' text; the rest is cut off
// Call slots of a loop: unary calls that have begun and whose handlers have not ended their work, calls that were given
// up meanwhile included. Other calls wait in their connections' admission queues, which are served round-robin.
inline constexpr int kCallsTakenOnMax = 256;
// If no call of the loop finishes for so long, there are as many call slots again: a group without a majority answers
// nothing, and yet clients can ask for its status.
inline constexpr std::uint64_t kTakenOnStuckMs = 20;
inline constexpr int kLargeCallsMax = 4;  // of those, calls of Weight::kLarge; others wait
// Calls of Weight::kUnknown, whose answers may be large: a connection begins only as many at a time as have
// kUnknownBytesMax of answers in all, if each answer is as long as the longest of the last few. That length is taken to
// be kAnswerBytesGuess before the first answer, and kSmallAnswerBytes at least. While it is above kSmallAnswerBytes,
// such calls count as large ones.
inline constexpr std::size_t kUnknownBytesMax = 8 * 1024 * 1024;
inline constexpr std::size_t kAnswerBytesGuess = 1024 * 1024;
inline constexpr std::size_t kSmallAnswerBytes = 64 * 1024;
// Bytes that a connection's time slice reads: while all call slots are taken, while other connections wait to be read,
// and otherwise. The loop has one such buffer.
inline constexpr std::size_t kCrowdedTurnBytes = 2 * 1024;
inline constexpr std::size_t kTurnBytes = 16 * 1024;
inline constexpr std::size_t kLoneTurnBytes = 64 * 1024;
// A time slice also reads no more than what makes kTurnUs of work, as estimated from the connection's time slices
// before (turn_size.h), but not less than kTurnBytesMin. The first one reads kFirstTurnBytes. A round's reads of each
// kind end after kRoundUs.
inline constexpr std::uint64_t kTurnUs = 200;
inline constexpr std::size_t kTurnBytesMin = 512;
inline constexpr std::size_t kFirstTurnBytes = 4 * 1024;
inline constexpr std::uint64_t kRoundUs = 500;
// Reads of a round: kTurnsPerRound of connections that have made a call, as many of connections that had more to read
// than their last time slice took, and kNewcomerTurnsPerRound of connections that have made no call yet. Others wait
// for the next round. A connection that begins costs as much as many calls, so in a round clients wait for few of
// these; and a client with one call at a time does not wait for clients that send many.
inline constexpr int kTurnsPerRound = 64;
inline constexpr int kNewcomerTurnsPerRound = 16;
inline constexpr int kTimersPerRound = 64;  // that are due; others are called in the next round

// What is received and not yet given to a handler.
inline constexpr int kConnectionWindowBytes = 1024 * 1024;          // HTTP/2's window of a connection
inline constexpr std::size_t kReceivedBytesLow = 4 * 1024 * 1024;   // of a connection; above it, streams get no window
inline constexpr std::size_t kReceivedBytesMax = 16 * 1024 * 1024;  // of a connection: RESOURCE_EXHAUSTED
// Of a loop: RESOURCE_EXHAUSTED, for the connection that keeps the most.
inline constexpr std::size_t kReceivedBytesAllMax = 128 * 1024 * 1024;

// What is to be sent.
inline constexpr std::size_t kStreamOutputLowBytes = 64 * 1024;    // below it a stream's handler is told to go on
inline constexpr std::size_t kOutputBeginBytesMax = 1024 * 1024;   // of a connection; above it none of its calls begins
inline constexpr std::size_t kOutputBytesMax = 256 * 1024 * 1024;  // of a connection; more ends it
// Of a loop; above it no large call begins, and others only at connections whose answers have all left.
inline constexpr std::size_t kOutputBytesAllMax = 256 * 1024 * 1024;
inline constexpr std::size_t kWriteBytes = 256 * 1024;  // of frames that wait for the socket; the rest waits unframed
// A peer that takes less than kReadBytesMin of what waits for it in kStalledWriteMs is disconnected; in
// kStalledUnderPressureMs, if large calls wait for kOutputBytesAllMax.
inline constexpr std::uint64_t kStalledWriteMs = 10'000;
inline constexpr std::uint64_t kStalledUnderPressureMs = 1'000;
inline constexpr std::size_t kReadBytesMin = 64 * 1024;
// If the server has ended a stream with an error, the stream's unsent rest is dropped when the peer has taken nothing
// of it for this time. While a server drains, a peer that takes nothing for this time is disconnected.
inline constexpr std::uint64_t kStalledEndMs = 500;
inline constexpr std::uint64_t kPressureLookMs = 100;  // between two checks for such connections, under pressure

// All that a loop keeps for its clients: heads and streams of open calls, what is received and what is to be sent, and
// HTTP/2's own memory. A connection may have as much as is still free, and kHeldBytesOwn in any case. Beyond, its calls
// are RESOURCE_EXHAUSTED before they begin, and so is a call whose answer is longer than kHeldBytesOwn. For these
// refusals HTTP/2 has kHeldBytesSpare besides, divided in the same way; a connection ends if HTTP/2 needs still more
// for it.
inline constexpr std::size_t kHeldBytesMax = 1024 * 1024 * 1024;
inline constexpr std::size_t kHeldBytesSpare = 64 * 1024 * 1024;
inline constexpr std::size_t kHeldBytesOwn = 64 * 1024;

// Frames. At each of these the connection ends with GOAWAY, ENHANCE_YOUR_CALM.
inline constexpr std::size_t kHeaderBlockBytesMax = 64 * 1024;  // of one block, before and after it is unfolded
inline constexpr int kPingIntervalMinMs = 5000;  // as etcd; pings without data in between come no more often ...
inline constexpr int kPingStrikesMax = 2;        // ... more often than this
// Frames that carry nothing for a call: settings, pings, priorities, window updates, empty or unknown frames. Allowed
// are so many at once, so many a second, and some for each call, each message of a stream and each KiB sent.
inline constexpr int kIdleFramesBurst = 4096;
inline constexpr int kIdleFramesPerSecond = 1000;
inline constexpr int kIdleFramesPerCall = 8;
inline constexpr int kIdleFramesPerMessage = 2;  // a client gives window for the stream and for the connection
inline constexpr int kIdleFramesPerKiB = 1;
// Frames that were earned by sent messages and bytes are kept beyond the burst, up to so many: a client that reads many
// small messages answers each of them, and its answers come together.
inline constexpr std::int64_t kIdleFramesEarnedMax = 512 * 1024;
inline constexpr int kSettingsFrameWeight = 16;  // a SETTINGS frame changes up to kStreamsPerConnectionMax windows
// Calls that the client resets, or makes the server reset by frames that break a rule. Allowed are so many at once, so
// many a second, and one for each call that is answered.
inline constexpr int kResetsBurst = 2 * kStreamsPerConnectionMax;
inline constexpr int kResetsPerSecond = 200;
// Memory of a connection for HTTP/2: streams, header tables, queued frames. More ends it.
inline constexpr std::size_t kSessionBytesMax = 16 * 1024 * 1024;

// Time for the peer to read the last byte of a connection that the server ends; then the connection is closed.
inline constexpr std::uint64_t kLingerMs = 1'000;
inline constexpr std::size_t kLingerBytesMax = 1024 * 1024;  // that the peer may still send meanwhile

// HTTP/1.1.
inline constexpr std::size_t kHttp1RequestBytesMax = 8 * 1024;  // a request's line and headers; longer ones are refused
// From the first byte of a request to its last, unless the method takes a stream of them; then the connection is closed.
inline constexpr std::uint64_t kHttp1RequestTimeoutMs = 30'000;
// Bytes that a connection has received and that are neither answered nor handed to HTTP/2. At the bound the connection
// is not read. A connection with a stream of answers is closed then, since nothing may follow its request.
inline constexpr std::size_t kHttp1HeldBytesMax = 64 * 1024;

// Draining.
inline constexpr std::uint64_t kDrainNoticeMs = 200;  // for a client to answer the first GOAWAY; then the second goes

// Memory that is kept for reuse.
inline constexpr std::size_t kKeptCapacityBytes = 4 * 1024;  // of a buffer of a call or a connection; more is freed
inline constexpr std::size_t kSpareStreamsMax = 1024;        // of a loop; more are freed
inline constexpr std::size_t kTrimBytes = 4 * 1024 * 1024;  // freed; then the heap is given back to the kernel
inline constexpr std::uint64_t kTrimIntervalMs = 1'000;     // from then to the next time that it is given back

// Free memory at the end of a thread's heap above kHeapTopBytes goes back to the kernel at once; buffers from
// kHeapMapBytes on are mapped, and go back when they are freed.
inline constexpr int kHeapTopBytes = 8 * 1024 * 1024;
inline constexpr int kHeapMapBytes = 4 * 1024 * 1024;

static_assert(kReceivedBytesLow + kGrpcReceiveBytesMax < kReceivedBytesMax, "a message always fits");
static_assert(kOutputBeginBytesMax < kOutputBytesMax);
static_assert(kHeldBytesSpare >= 4 * kSessionBytesMax, "a connection at its own bound leaves others most of it");
static_assert(kOutputBytesAllMax + kReceivedBytesAllMax < kHeldBytesMax / 2, "and as much for large calls under way");
static_assert(kStreamingCallsMax < kStreamingCallsAllMax);
static_assert(kStreamingCallsAllMax + kCallsTakenOnMax <= kStreamsPerConnectionMax, "a connection can fill the loop");

}  // namespace ingot::rpc::server
