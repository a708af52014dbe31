#include <utility>

#include "absl/status/status.h"
#include "core/wire.h"
#include "replication/store/codec.h"
#include "replication/store/lease_codec.h"
#include "replication/store/limits.h"

namespace ingot::kv {
namespace {

KeyValueView view_of(const KeyValue& kv) {
  return {kv.key, kv.value, kv.create_revision, kv.mod_revision, kv.version, kv.lease};
}

Kind kind_of(const OperationResult& result) { return static_cast<Kind>(result.index() + 1); }

void write_body(WireWriter& out, const RangeResult& r) {
  write_range_head(out, r, r.kvs.size());
  for (const KeyValue& kv : r.kvs) write_key_value(out, view_of(kv));
}

void write_body(WireWriter& out, const PutResult& r) {
  out.i64(r.revision).u8(r.has_prev);
  if (r.has_prev) write_key_value(out, view_of(r.prev));
}

void write_body(WireWriter& out, const DeleteRangeResult& r) {
  out.i64(r.revision).i64(r.deleted).u32(static_cast<std::uint32_t>(r.prev.size()));
  for (const KeyValue& kv : r.prev) write_key_value(out, view_of(kv));
}

void write_body(WireWriter& out, const TxnResult& r);
void write_body(WireWriter& out, const std::shared_ptr<TxnResult>& r) { write_body(out, *r); }

void write_body(WireWriter& out, const TxnResult& r) {
  out.i64(r.revision).u8(r.succeeded).u32(static_cast<std::uint32_t>(r.responses.size()));
  for (const OperationResult& response : r.responses) {
    out.u8(static_cast<std::uint8_t>(kind_of(response)));
    std::visit([&](const auto& body) { write_body(out, body); }, response);
  }
}

void write_body(WireWriter&, const CompactResult&) {}
void write_body(WireWriter& out, const HashResult& r) {
  out.u64(r.sum).i64(r.compact_revision).bytes(r.next_from).i64(r.next_below);
}
void write_body(WireWriter& out, const AlarmResult& r) { out.u8(r.no_space); }
void write_body(WireWriter&, const std::monostate&) {}

void write_body(WireWriter& out, const EventsResult& r) {
  write_events_head(out, r, r.events.size());
  for (const Event& event : r.events) {
    write_event(out, {event.deleted, event.has_prev, event.place, view_of(event.kv), view_of(event.prev)});
  }
}

bool read_bool(WireReader& in) {
  const std::uint8_t value = in.u8();
  if (value > 1) in.fail();
  return value == 1;
}

KeyValueView read_key_value_view(WireReader& in) {
  KeyValueView kv;
  kv.key = in.bytes();
  kv.value = in.bytes();
  kv.create_revision = in.i64();
  kv.mod_revision = in.i64();
  kv.version = in.i64();
  kv.lease = in.i64();
  return kv;
}

KeyValue read_key_value(WireReader& in) { return to_key_value(read_key_value_view(in)); }

// Flags of an event.
constexpr std::uint8_t kEventDeleted = 1, kEventPrev = 2, kEventFlags = 3;

EventView read_event(WireReader& in) {
  EventView event;
  const std::uint8_t flags = in.u8();
  if (flags & ~kEventFlags) in.fail();
  event.deleted = flags & kEventDeleted;
  event.has_prev = flags & kEventPrev;
  event.place = in.u32();
  event.kv = read_key_value_view(in);
  if (event.has_prev) event.prev = read_key_value_view(in);
  return event;
}

// Calls out(event) for each; the views are into the reader's bytes. As for all counts, an untrue one reserves nothing.
template <typename Out>
EventsResult read_events(WireReader& in, Out&& out) {
  EventsResult r;
  r.compact_revision = in.i64();
  r.next.revision = in.i64();
  r.next.place = in.u32();
  r.part = read_bool(in);
  for (std::uint32_t left = in.u32(); left > 0 && !in.failed(); --left) {
    const EventView event = read_event(in);
    if (!in.failed()) out(event);
  }
  return r;
}

EventsResult read_events(WireReader& in) {
  std::vector<Event> events;
  EventsResult r = read_events(in, [&](const EventView& view) {
    Event& event = events.emplace_back();
    event.deleted = view.deleted;
    event.place = view.place;
    event.kv = to_key_value(view.kv);
    event.has_prev = view.has_prev;
    if (view.has_prev) event.prev = to_key_value(view.prev);
  });
  r.events = std::move(events);
  return r;
}

// Grows as elements decode: a hostile count reserves no memory.
std::vector<KeyValue> read_key_values(WireReader& in) {
  std::vector<KeyValue> kvs;
  std::uint32_t left = in.u32();
  if (left <= in.remaining() / kKeyValueHeaderBytes) kvs.reserve(left);
  for (; left > 0 && !in.failed(); --left) kvs.push_back(read_key_value(in));
  return kvs;
}

RangeResult read_range(WireReader& in) {
  RangeResult r;
  r.revision = in.i64();
  r.count = in.i64();
  r.next_key = in.bytes();
  r.more = read_bool(in);
  r.kvs = read_key_values(in);
  return r;
}

PutResult read_put(WireReader& in) {
  PutResult r;
  r.revision = in.i64();
  r.has_prev = read_bool(in);
  if (r.has_prev) r.prev = read_key_value(in);
  return r;
}

DeleteRangeResult read_delete(WireReader& in) {
  DeleteRangeResult r;
  r.revision = in.i64();
  r.deleted = in.i64();
  r.prev = read_key_values(in);
  return r;
}

TxnResult read_txn(WireReader& in, int depth);

// Calls out(result) with the result of an operation of that kind; fails the reader if it is of another kind.
template <typename Out>
void read_operation(WireReader& in, Kind kind, int depth, Out&& out) {
  switch (kind) {
    case Kind::kRange:
      return out(read_range(in));
    case Kind::kPut:
      return out(read_put(in));
    case Kind::kDelete:
      return out(read_delete(in));
    case Kind::kTxn:
      return out(read_txn(in, depth));
    default:
      in.fail();
  }
}

struct AppendResult {
  std::vector<OperationResult>& results;
  void operator()(TxnResult nested) const { results.push_back(std::make_shared<TxnResult>(std::move(nested))); }
  template <typename T>
  void operator()(T result) const {
    results.push_back(std::move(result));
  }
};

TxnResult read_txn(WireReader& in, int depth) {
  TxnResult r;
  if (depth > kTxnDepthMax) in.fail();
  r.revision = in.i64();
  r.succeeded = read_bool(in);
  for (std::uint32_t left = in.u32(); left > 0 && !in.failed(); --left) {
    read_operation(in, static_cast<Kind>(in.u8()), depth + 1, AppendResult{r.responses});
  }
  return r;
}

void read_body(WireReader& in, Result& result) {
  const auto kind = static_cast<Kind>(in.u8());
  switch (kind) {
    case Kind::kNone:
      break;
    case Kind::kCompact:
      result.body = CompactResult{};
      break;
    case Kind::kHash: {
      auto& hash = result.body.emplace<HashResult>();
      hash.sum = in.u64();
      hash.compact_revision = in.i64();
      hash.next_from = in.bytes();
      hash.next_below = in.i64();
      break;
    }
    case Kind::kAlarm:
      result.body = AlarmResult{read_bool(in)};
      break;
    case Kind::kEvents:
      result.body = read_events(in);
      break;
    case Kind::kLeaseGrant:
    case Kind::kLeaseRevoke:
    case Kind::kLeaseKeepAlive:
    case Kind::kTick:
    case Kind::kLeaseTimeToLive:
    case Kind::kLeases:
      return read_lease_result(in, kind, result);
    default:
      read_operation(in, kind, 1, [&](auto body) { result.body = std::move(body); });
  }
}

}  // namespace

void write_key_value(WireWriter& out, const KeyValueView& kv) {
  out.bytes(kv.key).bytes(kv.value).i64(kv.create_revision).i64(kv.mod_revision).i64(kv.version).i64(kv.lease);
}

void write_result_head(WireWriter& out, Code code, Revision revision, Kind kind) {
  out.u8(static_cast<std::uint8_t>(code)).i64(revision).u8(static_cast<std::uint8_t>(kind));
}

void write_range_head(WireWriter& out, const RangeResult& head, std::size_t kvs) {
  out.i64(head.revision).i64(head.count).bytes(head.next_key).u8(head.more).u32(static_cast<std::uint32_t>(kvs));
}

void write_event(WireWriter& out, const EventView& event) {
  const int flags = (event.deleted ? kEventDeleted : 0) | (event.has_prev ? kEventPrev : 0);
  out.u8(static_cast<std::uint8_t>(flags)).u32(event.place);
  write_key_value(out, event.kv);
  if (event.has_prev) write_key_value(out, event.prev);
}

void write_events_head(WireWriter& out, const EventsResult& head, std::size_t events) {
  out.i64(head.compact_revision).i64(head.next.revision).u32(head.next.place).u8(head.part);
  out.u32(static_cast<std::uint32_t>(events));
}

Code decode_events(std::string_view bytes, EventsAnswerView& answer) {
  WireReader in(bytes);
  const std::uint8_t code = in.u8();
  answer.revision = in.i64();
  const auto kind = static_cast<Kind>(in.u8());
  if (code > static_cast<std::uint8_t>(kCodeLast) || in.failed()) return Code::kMalformed;
  if (code != 0) return kind == Kind::kNone && in.ok() ? static_cast<Code>(code) : Code::kMalformed;
  if (kind != Kind::kEvents) return Code::kMalformed;
  answer.events.clear();
  answer.head = read_events(in, [&](const EventView& event) { answer.events.push_back(event); });
  return in.ok() ? Code::kOk : Code::kMalformed;
}

std::string encode(const Result& result) {
  WireWriter out;
  const bool ok = result.code == Code::kOk;
  write_result_head(out, result.code, result.revision, ok ? static_cast<Kind>(result.body.index()) : Kind::kNone);
  if (ok) std::visit([&](const auto& body) { write_body(out, body); }, result.body);
  return out.take();
}

absl::StatusOr<Result> decode_result(std::string_view bytes) {
  WireReader in(bytes);
  Result result;
  const std::uint8_t code = in.u8();
  result.code = static_cast<Code>(code);
  result.revision = in.i64();
  read_body(in, result);
  const bool consistent = code == 0 || (code <= static_cast<std::uint8_t>(kCodeLast) && result.body.index() == 0);
  if (!in.ok() || !consistent) return absl::InvalidArgumentError("the bytes are not an encoded key-value result");
  return result;
}

}  // namespace ingot::kv
