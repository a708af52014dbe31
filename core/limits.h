// Every bound of Ingot, with its unit in its name and what happens when it is reached.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot {

// ---- The group ----------------------------------------------------------------------------------------------------
inline constexpr int kReplicasMax = 48;    // copies of the state; more are refused at start
inline constexpr int kVotersMax = 7;       // replicas that may lead, accept and vote; more are refused at start
inline constexpr int kVotersDefault = 5;   // or all replicas, if fewer
inline constexpr int kEndpointsMax = 64;   // replicas, the front end, and room for clients

// ---- One message --------------------------------------------------------------------------------------------------
inline constexpr std::size_t kRequestBytesMax = 1536 * 1024;  // a client's request, as in etcd: "request is too large"
inline constexpr std::size_t kBatchBytesMax = 2 * 1024 * 1024;     // commands that one slot agrees on; the rest waits
inline constexpr std::size_t kMessageBytesMax = 4 * 1024 * 1024;   // one Transport::send; more is a bug (CHECK)
inline constexpr int kBatchCommandsMax = 1024;                     // commands that one slot agrees on; the rest waits

// ---- Transport ----------------------------------------------------------------------------------------------------
inline constexpr int kProbeMessagesMax = 256;  // messages that one probe hands out before it returns to its loop
inline constexpr int kChannelEndpointsMax = 512;  // endpoints that one channel can connect; more is a bug (CHECK)
inline constexpr int kNvpSlotsPerSender = 64;     // lines one sender may have unread in one inbox; then "full"
inline constexpr int kSrbpSlotsPerSender = 64;    // likewise for SRBP, whose senders share one ring
// How soon an SRBP receiver works around a sender that stopped between drawing its ticket and publishing: after so many
// looks at an empty place it looks ahead once, and after so many looks ahead that found later messages it parks the
// place. Too soon costs a little work, never a message.
inline constexpr int kSrbpPollsPerScan = 32;
inline constexpr int kSrbpScansToPark = 2;
// A buffer for long messages is given back after one that needed more than this.
inline constexpr std::size_t kReassemblyKeepBytes = 64 * 1024;

// ---- Shared memory and waiting --------------------------------------------------------------------------------------
inline constexpr std::size_t kSegmentBytesMax = std::size_t{64} << 30;  // one segment, sparse; more is refused
// How long a loop with nothing to do spins on a core of its own before it gives way; a sleep costs as much to end.
inline constexpr std::uint64_t kSpinNs = 50'000;
// Somebody else wants the core if an idle loop was away from it for longer; then it does not spin for so long.
inline constexpr std::uint64_t kCoreWantedNs = 5'000;
inline constexpr std::uint64_t kNoSpinNs = 10'000'000;
// Rounds with sched_yield before an idle loop sleeps.
inline constexpr int kYieldsOwnCore = 4;
inline constexpr int kYieldsSharedCore = 32;
// A busy loop looks at its watched descriptors this often.
inline constexpr std::uint64_t kDescriptorPollNs = 5'000'000;
// Sleeps in a row that news call off though no poll finds work; at the limit the loop sleeps all the same, for at most
// kSpuriousWakeupSleepNs at a time.
inline constexpr int kSpuriousWakeupsMax = 1000;
inline constexpr std::uint64_t kSpuriousWakeupSleepNs = 1'000'000;

// ---- Replication --------------------------------------------------------------------------------------------------
inline constexpr int kWindowSlots = 64;  // slots proposed and undecided; further commands wait at the leader
inline constexpr std::size_t kWindowBytesMax = 8 * 1024 * 1024;  // bytes of those slots; further batches wait likewise
// Promises, votes and proposals of one replica. When full the store refuses, which the window and trimming prevent:
// replication/stable/layout.h asserts it.
inline constexpr std::size_t kStableSegmentBytes = 64 * 1024 * 1024;
// Slots undecided beyond which the leader lets a batch grow until it is full. Where replicas share cores, each slot costs
// every one of them a switch, so one at a time; on cores of their own, switches are no reason to wait.
inline constexpr int kPipelineSlotsSharedCore = 1;
inline constexpr int kPipelineSlotsOwnCore = 16;
inline constexpr int kTrimSlots = 256;  // slots applied everywhere before the stable segment is trimmed again
// Messages that wait for one peer whose channel is full. At the limit new ones are dropped; agreement sends again
// when the peer drains (Agreement::peer_drained).
inline constexpr std::size_t kBacklogBytesMax = 64 * 1024 * 1024;
inline constexpr int kBacklogMessagesMax = 16 * 1024;
// Commands at the leader that are not decided yet. At the limit a request is answered "busy".
inline constexpr int kLeaderQueueCommandsMax = 16 * 1024;
inline constexpr std::size_t kLeaderQueueBytesMax = 64 * 1024 * 1024;
// Decided entries kept for learners that fell behind; one that is further back needs a snapshot. Enough for what is decided
// while a joining replica loads a large state on a busy core (docs/design/snapshots.md).
inline constexpr int kCommandLogSlots = 256 * 1024;
inline constexpr std::size_t kCommandLogBytesMax = 128 * 1024 * 1024;
inline constexpr int kTickMs = 5;  // between two Agreement::tick calls, while there is something to wait for
inline constexpr int kPendingReadsMax = 16 * 1024;  // linearizable reads that wait; at the limit "busy"

// ---- Front end ----------------------------------------------------------------------------------------------------
inline constexpr int kFrontEndRequestsMax = 8 * 1024;  // in flight; at the limit "too many requests"
inline constexpr std::size_t kFrontEndBytesMax = 64 * 1024 * 1024;  // of those requests; likewise
inline constexpr int kRequestTimeoutMs = 7000;  // as etcd: then "request timed out", and the outcome is unknown
inline constexpr int kRetryMs = 250;            // without an answer before a request is sent again, then twice that,
inline constexpr int kRetryDoublings = 3;       // and so on, so many times
inline constexpr int kRetryScanMs = 50;         // between two looks for requests to send again
inline constexpr int kQuietMs = 1000;           // without requests before the front end stops looking

inline constexpr int kPingIntervalMinMs = 5000;          // as etcd; clients that ping more often are disconnected
inline constexpr int kStreamsPerConnectionMax = 1024;    // concurrent calls of one connection; further ones wait in it
inline constexpr std::size_t kGrpcReceiveBytesMax = kRequestBytesMax + 512 * 1024;  // as etcd; then gRPC's own error

// ---- etcd's API -----------------------------------------------------------------------------------------------------
// Keys and values of one Range answer, which the front end puts together from pages. Longer ones are refused; the
// caller uses limit.
inline constexpr std::size_t kRangeBytesMax = 64 * 1024 * 1024;
inline constexpr int kRangeRestartsMax = 8;  // of a Range overtaken by compactions between pages; then "unavailable"

// ---- Agreement ----------------------------------------------------------------------------------------------------
inline constexpr std::uint64_t kConfigurationEntriesMax = 0xffff'ffff;  // epochs and ballots; on the wire in 32 bits
inline constexpr std::uint64_t kSlotsMax = std::uint64_t{1} << 62;      // a message about a later slot is refused
// Without progress, what is outstanding is sent again after this many ticks, then after twice as many, and so on.
inline constexpr int kRetransmitTicks = 20;
inline constexpr int kRetransmitTicksMax = 640;
inline constexpr std::size_t kRetransmitBytesMax = 4 * 1024 * 1024;  // sent again at once; the rest the next time
// What a learner keeps above a gap. What does not fit is forgotten, and fetched once the gap has closed.
inline constexpr int kLearnerAheadSlots = 1024;
inline constexpr std::size_t kLearnerAheadBytesMax = 64 * 1024 * 1024;
inline constexpr int kFetchEntriesMax = 256;                     // of one answer; the asker then asks on
inline constexpr std::size_t kFetchBytesMax = 1024 * 1024;       // of one answer, unless its first entry is larger
inline constexpr int kFetchTicks = 20;                           // without an answer another peer is asked
// Multi-Paxos: a voter that has decided less than this far below a slot does not vote for it until it has caught up.
inline constexpr int kVoteAheadSlots = 4096;
// 2PC: prepared and undecided bytes at a participant; it votes no to what does not fit.
inline constexpr std::size_t kPreparedBytesMax = 32 * 1024 * 1024;
inline constexpr int kBlockedTicks = 100;  // 2PC: without progress for so long, the status says blocked and by whom

// ---- Processes ----------------------------------------------------------------------------------------------------
inline constexpr int kDrainTimeoutMs = 10'000;  // for children to leave on SIGTERM; then they are killed

// ---- Sessions -----------------------------------------------------------------------------------------------------
inline constexpr int kSessionsMax = 256;                // clients remembered; the longest silent one is forgotten
inline constexpr int kSessionWindow = 16 * 1024;        // requests of one client that may be outstanding
// Results kept for retries, of one client and of all; beyond, the oldest go and a retry of theirs is told so.
inline constexpr std::size_t kSessionResultsBytesMax = 64 * 1024 * 1024;
inline constexpr std::size_t kSessionsBytesMax = 256 * 1024 * 1024;

// ---- Store --------------------------------------------------------------------------------------------------------
inline constexpr int kTxnOperationsMax = 128;   // etcd's --max-txn-ops: "too many operations in txn request"
inline constexpr int kTxnDepthMax = 16;         // nested transactions; deeper ones are refused
inline constexpr std::size_t kPageBytesMax = 1024 * 1024;  // one page of a range's answer; the reader asks for the next
// The answer to one request of the store; one that would be longer is refused before anything is changed.
inline constexpr std::size_t kResultBytesMax = 3 * 1024 * 1024;
inline constexpr int kCompactionStepVersions = 128;  // superseded versions that one command frees; the rest waits

// ---- Control and metrics -------------------------------------------------------------------------------------------
inline constexpr int kRequestMetricShards = 8;     // sets of request counters; more threads share them, only slower
inline constexpr int kStatusWatchersMax = 64;      // WatchStatus streams; further ones are RESOURCE_EXHAUSTED
inline constexpr int kStatusPollMs = 50;           // how soon a watcher sees a change; nobody polls without watchers
inline constexpr int kStatusIntervalMsDefault = 1000;  // between answers that tell of nothing but progress
inline constexpr int kStatusIntervalMsMax = 3600 * 1000;  // a longer interval is cut to this

// ---- Load generator ------------------------------------------------------------------------------------------------
inline constexpr int kLoadClientsMax = 4096;         // more are refused (a client's number is 16 bits of a value's stamp)
inline constexpr int kLoadConnectionsMax = 256;      // more are refused
inline constexpr int kLoadThreadsMax = 16;           // more are refused
inline constexpr int kLoadKeysMax = 1000 * 1000;     // more are refused: what is known of each is kept for the check
inline constexpr int kLoadValueBytesMax = 1024 * 1024;  // more is refused: a put with its key stays below the request limit
inline constexpr int kLoadRetryPauseMs = 20;         // how long a client waits before it looks for the server again
inline constexpr int kLoadCheckPageKeys = 1000;      // keys that the final check reads at once, or fewer if large:
inline constexpr int kLoadCheckPageBytes = 4 * 1024 * 1024;  // of their values together

// ---- Machines and trees ---------------------------------------------------------------------------------------------
inline constexpr int kMachineCoresMax = 2048;  // cores of a machine file; more are refused
inline constexpr std::size_t kMachineFileBytesMax = 256 * 1024 * 1024;  // of a machine or tree file; more is refused
inline constexpr int kJsonDepthMax = 32;       // of a file that people write; deeper nesting is refused
inline constexpr double kMachineCyclesMax = 1e9;  // one message; a file that says more is refused
inline constexpr int kMeasureBatchMessages = 8;   // of one sample when costs are measured, as in the measured files
inline constexpr int kExactCoresMax = 12;         // the exact planner's work grows by 3^cores; more are refused
inline constexpr int kExactBarrierCoresMax = 7;   // it tries all cores^(cores - 1) trees for a barrier; likewise
// Trees that a planner tries before it stops, if it is given no other number: well under a second of work. On machines
// of many cores each takes longer.
inline constexpr int kPlanFewCores = 32;
inline constexpr std::int64_t kPlanEvaluationsFewCores = 600'000;
inline constexpr std::int64_t kPlanEvaluationsManyCores = 300'000;
inline constexpr int kPlanBudgetMs = 1000;        // of planning, unless the user says otherwise; the best so far is taken
inline constexpr int kPlanClockEvaluations = 64;  // between two looks at the clock

static_assert(kReplicasMax < kEndpointsMax, "the front end needs an address");
static_assert(kEndpointsMax <= kChannelEndpointsMax);
static_assert(kNvpSlotsPerSender <= 128, "NVP tells 128 new lines from none by a byte");
static_assert(kVotersMax <= kReplicasMax);
static_assert(kVotersDefault <= kVotersMax);
static_assert(kRequestBytesMax < kBatchBytesMax, "a batch holds the largest request with its header");
static_assert(kBatchBytesMax < kMessageBytesMax, "a message holds the largest batch with its header");
static_assert(2 * kMessageBytesMax < kBacklogBytesMax);
static_assert(kResultBytesMax < kSessionResultsBytesMax, "the newest result is kept");
static_assert(kSessionResultsBytesMax <= kSessionsBytesMax);
static_assert(kPageBytesMax + kRequestBytesMax < kResultBytesMax, "the last value of a page may be a large one");
static_assert(kResultBytesMax < kMessageBytesMax, "a message holds the largest answer with its header");
static_assert(kWindowSlots < kCommandLogSlots);
static_assert(kWindowSlots <= kLearnerAheadSlots && kWindowSlots <= kVoteAheadSlots);
static_assert(kWindowBytesMax + kBatchBytesMax < kLearnerAheadBytesMax, "else a decided slot could be forgotten by all");
static_assert(kFetchBytesMax + kBatchBytesMax < kMessageBytesMax, "the last entry of an answer may be a large one");
static_assert(kWindowBytesMax + kBatchBytesMax < kPreparedBytesMax, "an honest coordinator never makes one vote no");
static_assert(kFrontEndRequestsMax < kSessionWindow);
static_assert(kRetryMs < kRequestTimeoutMs);

}  // namespace ingot
