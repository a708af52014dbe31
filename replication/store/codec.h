// Parts of the key-value codec for the store, which writes a range's answer without copying keys and values.
//
// Grammar (core/wire.h; "?f" is present only if flag f is set, and then never zero or empty, so every value has one
// encoding):
//
//   request  u8 kind, then
//     1 range    u16 flags  bytes key  ?1 bytes range_end  ?2 i64 limit  ?4 i64 revision  ?8 (u8 order u8 target)
//                ?16 (i64 min_mod i64 max_mod i64 min_create i64 max_create)  ?32 i64 taken
//                64 keys_only  128 count_only  ?256 u32 step_entries
//     2 put      u8 flags  bytes key  bytes value  ?1 i64 lease   2 prev_kv  4 ignore_value  8 ignore_lease
//     3 delete   u8 flags  bytes key  ?1 bytes range_end   2 prev_kv
//     4 txn      u32 n  n compares  u32 n  n operations (success)  u32 n  n operations (failure)
//     5 compact  i64 revision
//     6 hash     u8 flags  i64 revision  ?1 u32 step_entries  ?2 bytes from  ?4 i64 below
//     7 alarm    u8 action
//     8 events   i64 revision  u32 place  i64 at_least  i64 known_compacted  u32 bytes_max  u8 prev_kv
//                u32 n  n (bytes key  bytes range_end)
//     9 lease grant         i64 id  i64 ttl_s
//    10 lease revoke        i64 id
//    11 lease keep-alive    u32 n  n x i64 id
//    12 tick                u64 leadership  u64 number  u32 ms   (replication/store/tick.h)
//    13 lease time to live  i64 id  u8 keys
//    14 leases              nothing
//   compare    u8 result  u8 target  u8 flags  bytes key  ?1 bytes range_end  (target value: bytes, else: i64)
//   operation  a request of kind 1 to 4
//
//   result   u8 code  i64 revision  u8 kind, then (kind 0: nothing, as for every code but kOk)
//     1 range    i64 revision  i64 count  bytes next_key  u8 more  u32 n  n key_values
//     2 put      i64 revision  u8 has_prev  [key_value]
//     3 delete   i64 revision  i64 deleted  u32 n  n key_values
//     4 txn      i64 revision  u8 succeeded  u32 n  n (u8 kind 1 to 4, body)
//     5 compact  nothing
//     6 hash     u64 sum  i64 compact_revision  bytes next_from  i64 next_below
//     7 alarm    u8 no_space
//     8 events   i64 compact_revision  i64 next_revision  u32 next_place  u8 part  u32 n  n events
//     9 lease grant         i64 id  i64 ttl_s
//    10 lease revoke        nothing
//    11 lease keep-alive    u32 n  n x i64 ttl_s
//    12 tick                nothing
//    13 lease time to live  i64 ttl_s  i64 granted_ttl_s  u32 n  n x bytes key
//    14 leases              u32 n  n x i64 id
//   event      u8 flags  u32 place  key_value  ?2 key_value (the one before)   1 deleted
//   key_value  bytes key  bytes value  i64 create_revision  i64 mod_revision  i64 version  i64 lease
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/wire.h"
#include "replication/store/api.h"

namespace ingot::kv {

// Kinds of requests and of the results that answer them.
enum class Kind : std::uint8_t {
  kNone = 0,
  kRange = 1,
  kPut = 2,
  kDelete = 3,
  kTxn = 4,
  kCompact = 5,
  kHash = 6,
  kAlarm = 7,
  kEvents = 8,
  kLeaseGrant = 9,
  kLeaseRevoke = 10,
  kLeaseKeepAlive = 11,
  kTick = kTickTag,
  kLeaseTimeToLive = 13,
  kLeases = 14,
};

// A key and value stored elsewhere.
struct KeyValueView {
  std::string_view key;
  std::string_view value;
  Revision create_revision = 0;
  Revision mod_revision = 0;
  std::int64_t version = 0;
  std::int64_t lease = 0;
};

inline KeyValue to_key_value(const KeyValueView& view) {
  return {std::string(view.key), std::string(view.value), view.create_revision, view.mod_revision,
          view.version,          view.lease};
}

// Bytes of an encoded key_value beside its key and value.
inline constexpr std::size_t kKeyValueHeaderBytes = 4 + 4 + 4 * 8;

inline std::size_t encoded_size(const KeyValueView& kv) {
  return kKeyValueHeaderBytes + kv.key.size() + kv.value.size();
}

void write_key_value(WireWriter& out, const KeyValueView& kv);

// A put whose key and value are stored elsewhere.
struct PutView {
  std::string_view key;
  std::string_view value;
  std::int64_t lease = 0;
  bool prev_kv = false, ignore_value = false, ignore_lease = false;
};

inline PutView view_of(const PutRequest& r) {
  return {r.key, r.value, r.lease, r.prev_kv, r.ignore_value, r.ignore_lease};
}

// The key of an encoded put; empty: the bytes do not begin as one.
std::string_view put_key(std::string_view request);
// The put that the bytes encode, which it views; none: they are no put.
std::optional<PutView> decode_put(std::string_view request);
Code validate(const PutView& put);  // as validate(Request)

// An event of which the keys and values are stored elsewhere.
struct EventView {
  bool deleted = false;
  bool has_prev = false;
  std::uint32_t place = 0;
  KeyValueView kv;
  KeyValueView prev;
};

// Bytes of an encoded event beside its one or two key_values.
inline constexpr std::size_t kEventHeaderBytes = 1 + 4;

inline std::size_t encoded_size(const EventView& event) {
  return kEventHeaderBytes + encoded_size(event.kv) + (event.has_prev ? encoded_size(event.prev) : 0);
}

void write_event(WireWriter& out, const EventView& event);

// What precedes a result's body, and what precedes the key_values of a range's.
void write_result_head(WireWriter& out, Code code, Revision revision, Kind kind);
void write_range_head(WireWriter& out, const RangeResult& head, std::size_t kvs);
// The same before the events of an answer; those of `head` are left out.
void write_events_head(WireWriter& out, const EventsResult& head, std::size_t events);

// An answer to an EventsRequest, read without copying keys and values: they view the bytes. `revision` is the store's.
struct EventsAnswerView {
  Revision revision = 0;
  EventsResult head;  // without its events
  std::vector<EventView> events;
};
// kMalformed: the bytes are no such answer. Any other code but kOk: the store's refusal.
Code decode_events(std::string_view bytes, EventsAnswerView& answer);

}  // namespace ingot::kv
