// Commands, queries and results of the key-value store: etcd v3's key-value API as plain structs, with their own
// compact encoding (the store knows nothing of protobuf). Fields mean what they mean in etcd v3 unless stated
// otherwise.
//
// A Request is either mutating (replicated as a command, then applied) or read-only (a query). The Result of both has
// the same form. Encoded requests come from outside: decode refuses bytes that encode cannot have written.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "replication/store/tick.h"

namespace ingot::kv {

using Revision = std::int64_t;  // as in etcd: an empty store is at revision 1

struct KeyValue {
  std::string key;
  std::string value;
  Revision create_revision = 0;
  Revision mod_revision = 0;
  std::int64_t version = 0;
  std::int64_t lease = 0;
  bool operator==(const KeyValue&) const = default;
};

enum class SortOrder : std::uint8_t { kNone = 0, kAscend = 1, kDescend = 2 };
enum class SortTarget : std::uint8_t { kKey = 0, kVersion = 1, kCreate = 2, kMod = 3, kValue = 4 };

// Reads in steps, which etcd does not have: so the front end reads much by requests that each keep a replica for a
// short time. With `step_entries` not 0 (at most kStepEntriesMax) the answer to a RangeRequest or a HashRequest is
// about the first so many keys of the range, or versions that are hashed, also those that do not exist at the revision;
// and about fewer if these have more bytes than a step should have (limits.h). The result has the position that it is
// not about, with which the next step's request begins. All steps have the first one's revision.

struct RangeRequest {
  std::string key;
  std::string range_end;  // empty: the key alone; "\0": everything from key on
  std::int64_t limit = 0;
  Revision revision = 0;  // 0 or less: the newest
  SortOrder sort_order = SortOrder::kNone;
  SortTarget sort_target = SortTarget::kKey;
  bool keys_only = false;
  bool count_only = false;
  Revision min_mod_revision = 0, max_mod_revision = 0, min_create_revision = 0, max_create_revision = 0;

  // A step is a page. The next one's key is RangeResult::next_key, and its `taken` is the number of results that the
  // pages before it have given, if the limit takes them by key (replication/store/sort.h). Otherwise the limit is the
  // page's: its best.
  std::uint32_t step_entries = 0;
  std::int64_t taken = 0;
  bool operator==(const RangeRequest&) const = default;
};

struct PutRequest {
  std::string key, value;
  std::int64_t lease = 0;
  bool prev_kv = false, ignore_value = false, ignore_lease = false;
  bool operator==(const PutRequest&) const = default;
};

struct DeleteRangeRequest {
  std::string key, range_end;
  bool prev_kv = false;
  bool operator==(const DeleteRangeRequest&) const = default;
};

enum class CompareResult : std::uint8_t { kEqual = 0, kGreater = 1, kLess = 2, kNotEqual = 3 };
enum class CompareTarget : std::uint8_t { kVersion = 0, kCreate = 1, kMod = 2, kValue = 3, kLease = 4 };

struct Compare {
  CompareResult result = CompareResult::kEqual;
  CompareTarget target = CompareTarget::kVersion;
  std::string key, range_end;
  std::int64_t number = 0;  // version, revision or lease
  std::string value;        // target kValue
  bool operator==(const Compare&) const = default;
};

struct TxnRequest;

// An operation of a transaction. TxnRequest nests, so a pointer holds it; never null.
using Operation = std::variant<RangeRequest, PutRequest, DeleteRangeRequest, std::shared_ptr<TxnRequest>>;

struct TxnRequest {
  std::vector<Compare> compare;
  std::vector<Operation> success, failure;
};

struct CompactRequest {
  Revision revision = 0;
  bool operator==(const CompactRequest&) const = default;
};

// Hash of the keys and values at a revision (0: newest), as for etcd's Maintenance.HashKV.
//
// A step is a part. Its position is a key, and of that key only the versions below the revision `below` (0: all).
struct HashRequest {
  Revision revision = 0;
  std::uint32_t step_entries = 0;
  std::string from{};
  Revision below = 0;
  bool operator==(const HashRequest&) const = default;
};

// Asks for the NOSPACE alarm, raises or disarms it. While it stands, every put is refused.
struct AlarmRequest {
  enum class Action : std::uint8_t { kGet = 0, kActivate = 1, kDeactivate = 2 };
  Action action = Action::kGet;
  bool operator==(const AlarmRequest&) const = default;
};

// A place in the history of changes: the changes of a transaction have one revision and are counted from 0.
struct EventPosition {
  Revision revision = 0;
  std::uint32_t place = 0;
  auto operator<=>(const EventPosition&) const = default;
};

// As the fields of a RangeRequest: one key, everything from a key on ("\0"), or [key, range_end).
struct EventRange {
  std::string key, range_end;
  bool operator==(const EventRange&) const = default;
};

// Asks for the changes of some keys from a position on, in their order. Not in etcd: what the front end's watches read.
//
// As a standing query (replication/store/state_machine.h) it is answered when there are such changes, when the store is
// at `at_least`, or when another revision than `known_compacted` is compacted.
struct EventsRequest {
  EventPosition from;
  Revision at_least = 0;          // 0: none
  Revision known_compacted = -1;  // -1: none
  std::uint32_t bytes_max = 0;    // of the answer's events, about; one event comes in any case
  bool prev_kv = false;
  std::vector<EventRange> ranges;  // at most kEventRangesMax, ascending, none overlaps another
  bool operator==(const EventsRequest&) const = default;
};

// Leases. A TTL is in seconds; one that is granted is at least kLeaseTtlMinS.
struct LeaseGrantRequest {
  std::int64_t id = 0;  // who asks draws it
  std::int64_t ttl_s = 0;
  bool operator==(const LeaseGrantRequest&) const = default;
};

// Ends a lease now: its keys are deleted.
struct LeaseRevokeRequest {
  std::int64_t id = 0;
  bool operator==(const LeaseRevokeRequest&) const = default;
};

struct LeaseKeepAliveRequest {
  std::vector<std::int64_t> ids;  // 1 to kKeepAlivesMax
  bool operator==(const LeaseKeepAliveRequest&) const = default;
};

struct LeaseTimeToLiveRequest {
  std::int64_t id = 0;
  bool keys = false;  // the answer has them, too
  bool operator==(const LeaseTimeToLiveRequest&) const = default;
};

struct LeasesRequest {
  bool operator==(const LeasesRequest&) const = default;
};

// A Tick comes from a replica, and its result is nobody's.
using Request = std::variant<RangeRequest, PutRequest, DeleteRangeRequest, TxnRequest, CompactRequest, HashRequest,
                             AlarmRequest, EventsRequest, LeaseGrantRequest, LeaseRevokeRequest,
                             LeaseKeepAliveRequest, Tick, LeaseTimeToLiveRequest, LeasesRequest>;

// Why a request was not carried out; the store is then unchanged, but for the alarm that kNoSpace raises. services maps
// each code to etcd's code and text.
enum class Code : std::uint8_t {
  kOk = 0,
  kEmptyKey,
  kKeyNotFound,        // put with ignore_value or ignore_lease of a missing key
  kValueProvided,      // ignore_value together with a value
  kLeaseProvided,      // ignore_lease together with a lease
  kLeaseNotFound,
  kTooManyOps,
  kDuplicateKey,
  kCompacted,
  kFutureRevision,
  kMalformed,          // the request does not decode: a bug or a hostile peer
  kTooDeep,            // nested deeper than kTxnDepthMax
  kResultTooLarge,     // the answer would have exceeded kResultBytesMax
  kNoSpace,            // beyond the quota (replication/store/quota.h), or a put or grant while the NOSPACE alarm stands
  kLeaseExists,
  kLeaseTtlTooLarge,   // above kLeaseTtlMaxS
  kTooManyLeases,      // above kLeasesMax
};
inline constexpr Code kCodeLast = Code::kTooManyLeases;  // keep it the last one

// `revision` is the one for the response's own header. Inside a transaction it is the revision that the operation saw
// or made; for a nested transaction it is 0, as in etcd.
struct RangeResult {
  Revision revision = 0;
  std::vector<KeyValue> kvs;
  bool more = false;
  std::int64_t count = 0;
  std::string next_key;  // of a page; empty: it was the last one
};
struct PutResult {
  Revision revision = 0;
  bool has_prev = false;
  KeyValue prev;
};
struct DeleteRangeResult {
  Revision revision = 0;
  std::int64_t deleted = 0;
  std::vector<KeyValue> prev;
};
struct TxnResult;
using OperationResult =
    std::variant<RangeResult, PutResult, DeleteRangeResult, std::shared_ptr<TxnResult>>;
struct TxnResult {
  Revision revision = 0;
  bool succeeded = false;
  std::vector<OperationResult> responses;
};
struct CompactResult {};
// The hash is the sum of all parts' sums, folded (fold_hash). It depends on the compacted revision: all parts have the
// same, or the hash is to be begun again.
struct HashResult {
  std::uint64_t sum = 0;
  Revision compact_revision = 0;
  std::string next_from;  // of a part; empty: it was the last one
  Revision next_below = 0;
};
inline std::uint32_t fold_hash(std::uint64_t sum) { return static_cast<std::uint32_t>(sum ^ (sum >> 32)); }

struct AlarmResult {
  bool no_space = false;  // the alarm stands; of kDeactivate: it stood until now
};

struct Event {
  bool deleted = false;     // then `kv` has key and mod_revision only
  std::uint32_t place = 0;  // in its revision, kv.mod_revision
  KeyValue kv;
  bool has_prev = false;    // the key's version before this revision; none at the compacted one or for version 1
  KeyValue prev;
};

// The changes of the ranges from the request's position up to `next`, which is the first that is left out. They are
// whole revisions, or a part of one revision, and then of no other: either it has more than one answer holds, and
// next.place is not 0, or this is its end. At the compacted revision only the newest change of each key is left; below
// it there are none: if next.revision is below compact_revision, changes from `next` on are lost.
struct EventsResult {
  Revision compact_revision = -1;
  EventPosition next;
  bool part = false;
  std::vector<Event> events;
};

struct LeaseGrantResult {
  std::int64_t id = 0;
  std::int64_t ttl_s = 0;
};
struct LeaseRevokeResult {};
struct LeaseKeepAliveResult {
  std::vector<std::int64_t> ttls_s;  // of the request's leases, in its order; 0: there is none
};
struct TickResult {};
struct LeaseTimeToLiveResult {
  std::int64_t ttl_s = -1;  // what is left; -1: there is no such lease
  std::int64_t granted_ttl_s = 0;
  std::vector<std::string> keys;  // ascending
};
struct LeasesResult {
  std::vector<std::int64_t> ids;  // in the order in which they end
};

struct Result {
  Code code = Code::kOk;
  Revision revision = 0;  // the store's revision after the request, for the header
  std::variant<std::monostate, RangeResult, PutResult, DeleteRangeResult, TxnResult, CompactResult, HashResult,
               AlarmResult, EventsResult, LeaseGrantResult, LeaseRevokeResult, LeaseKeepAliveResult, TickResult,
               LeaseTimeToLiveResult, LeasesResult>
      body;
};

// True if the request changes the store when it succeeds (a transaction: if any branch holds a put or delete), and so
// must be a command.
bool is_mutating(const Request& request);

// True for a grant, a revocation, a keep-alive and a tick.
bool changes_leases(const Request& request);

// True for a put and for a transaction with a put in any branch, nested ones included; and for the grant of a lease.
bool has_puts(const Request& request);

// True for a transaction that compares, reads or deletes more than single keys in any branch, nested ones included.
bool has_ranges(const TxnRequest& request);

// The check that needs no state: empty keys, too many operations, duplicate keys, contradictory flags. etcd checks this
// before anything else; the store repeats it.
Code validate(const Request& request);

std::string encode(const Request& request);
std::string encode(const Result& result);
absl::StatusOr<Request> decode_request(std::string_view bytes);
absl::StatusOr<Result> decode_result(std::string_view bytes);

}  // namespace ingot::kv
