#include <utility>

#include "absl/status/status.h"
#include "core/wire.h"
#include "replication/store/codec.h"
#include "replication/store/lease_codec.h"
#include "replication/store/limits.h"

namespace ingot::kv {
namespace {

// Flags of a range.
constexpr std::uint16_t kRangeEnd = 1, kLimit = 2, kRevision = 4, kSort = 8, kFilters = 16, kTaken = 32,
                        kKeysOnly = 64, kCountOnly = 128, kPage = 256, kRangeFlags = 511;
// Flags of a put, of a delete, of a compare, of a hash.
constexpr std::uint8_t kPutLease = 1, kPutPrev = 2, kPutIgnoreValue = 4, kPutIgnoreLease = 8, kPutFlags = 15;
constexpr std::uint8_t kDeleteEnd = 1, kDeletePrev = 2, kDeleteFlags = 3;
constexpr std::uint8_t kCompareEnd = 1, kCompareFlags = 1;
constexpr std::uint8_t kHashPart = 1, kHashFrom = 2, kHashBelow = 4, kHashFlags = 7;

template <typename Flags>
Flags flag_if(bool condition, Flags flag) {
  return condition ? flag : Flags{0};
}

bool has_filters(const RangeRequest& r) {
  return (r.min_mod_revision | r.max_mod_revision | r.min_create_revision | r.max_create_revision) != 0;
}

bool has_sort(const RangeRequest& r) { return r.sort_order != SortOrder::kNone || r.sort_target != SortTarget::kKey; }

void write(WireWriter& out, const RangeRequest& r) {
  std::uint16_t flags = 0;
  flags |= flag_if(!r.range_end.empty(), kRangeEnd) | flag_if(r.limit != 0, kLimit);
  flags |= flag_if(r.revision != 0, kRevision) | flag_if(has_sort(r), kSort) | flag_if(has_filters(r), kFilters);
  flags |= flag_if(r.taken != 0, kTaken) | flag_if(r.keys_only, kKeysOnly) | flag_if(r.count_only, kCountOnly);
  flags |= flag_if(r.step_entries != 0, kPage);
  out.u8(static_cast<std::uint8_t>(Kind::kRange)).u16(flags).bytes(r.key);
  if (flags & kRangeEnd) out.bytes(r.range_end);
  if (flags & kLimit) out.i64(r.limit);
  if (flags & kRevision) out.i64(r.revision);
  if (flags & kSort) out.u8(static_cast<std::uint8_t>(r.sort_order)).u8(static_cast<std::uint8_t>(r.sort_target));
  if (flags & kFilters) {
    out.i64(r.min_mod_revision).i64(r.max_mod_revision).i64(r.min_create_revision).i64(r.max_create_revision);
  }
  if (flags & kTaken) out.i64(r.taken);
  if (flags & kPage) out.u32(r.step_entries);
}

void write(WireWriter& out, const PutRequest& r) {
  std::uint8_t flags = 0;
  flags |= flag_if(r.lease != 0, kPutLease) | flag_if(r.prev_kv, kPutPrev);
  flags |= flag_if(r.ignore_value, kPutIgnoreValue) | flag_if(r.ignore_lease, kPutIgnoreLease);
  out.u8(static_cast<std::uint8_t>(Kind::kPut)).u8(flags).bytes(r.key).bytes(r.value);
  if (flags & kPutLease) out.i64(r.lease);
}

void write(WireWriter& out, const DeleteRangeRequest& r) {
  std::uint8_t flags = 0;
  flags |= flag_if(!r.range_end.empty(), kDeleteEnd) | flag_if(r.prev_kv, kDeletePrev);
  out.u8(static_cast<std::uint8_t>(Kind::kDelete)).u8(flags).bytes(r.key);
  if (flags & kDeleteEnd) out.bytes(r.range_end);
}

void write(WireWriter& out, const Compare& c) {
  const std::uint8_t flags = flag_if(!c.range_end.empty(), kCompareEnd);
  out.u8(static_cast<std::uint8_t>(c.result)).u8(static_cast<std::uint8_t>(c.target)).u8(flags).bytes(c.key);
  if (flags & kCompareEnd) out.bytes(c.range_end);
  if (c.target == CompareTarget::kValue) {
    out.bytes(c.value);
  } else {
    out.i64(c.number);
  }
}

void write(WireWriter& out, const TxnRequest& txn);

void write(WireWriter& out, const std::vector<Operation>& operations) {
  out.u32(static_cast<std::uint32_t>(operations.size()));
  for (const Operation& operation : operations) {
    if (const auto* nested = std::get_if<std::shared_ptr<TxnRequest>>(&operation)) {
      write(out, **nested);
    } else if (const auto* range = std::get_if<RangeRequest>(&operation)) {
      write(out, *range);
    } else if (const auto* put = std::get_if<PutRequest>(&operation)) {
      write(out, *put);
    } else {
      write(out, std::get<DeleteRangeRequest>(operation));
    }
  }
}

void write(WireWriter& out, const TxnRequest& txn) {
  out.u8(static_cast<std::uint8_t>(Kind::kTxn)).u32(static_cast<std::uint32_t>(txn.compare.size()));
  for (const Compare& compare : txn.compare) write(out, compare);
  write(out, txn.success);
  write(out, txn.failure);
}

void write(WireWriter& out, const CompactRequest& r) {
  out.u8(static_cast<std::uint8_t>(Kind::kCompact)).i64(r.revision);
}

void write(WireWriter& out, const HashRequest& r) {
  const std::uint8_t flags = flag_if(r.step_entries != 0, kHashPart) | flag_if(!r.from.empty(), kHashFrom) |
                             flag_if(r.below != 0, kHashBelow);
  out.u8(static_cast<std::uint8_t>(Kind::kHash)).u8(flags).i64(r.revision);
  if (flags & kHashPart) out.u32(r.step_entries);
  if (flags & kHashFrom) out.bytes(r.from);
  if (flags & kHashBelow) out.i64(r.below);
}

void write(WireWriter& out, const AlarmRequest& r) {
  out.u8(static_cast<std::uint8_t>(Kind::kAlarm)).u8(static_cast<std::uint8_t>(r.action));
}

void write(WireWriter& out, const EventsRequest& r) {
  out.u8(static_cast<std::uint8_t>(Kind::kEvents)).i64(r.from.revision).u32(r.from.place);
  out.i64(r.at_least).i64(r.known_compacted).u32(r.bytes_max).u8(r.prev_kv);
  out.u32(static_cast<std::uint32_t>(r.ranges.size()));
  for (const EventRange& range : r.ranges) out.bytes(range.key).bytes(range.range_end);
}

// ---- Decoding. A flag whose field is zero or empty fails: encode sets no such flag. ----

template <typename Enum>
Enum read_enum(WireReader& in, Enum last) {
  const std::uint8_t value = in.u8();
  if (value > static_cast<std::uint8_t>(last)) in.fail();
  return in.failed() ? Enum{} : static_cast<Enum>(value);
}

std::int64_t read_nonzero(WireReader& in) {
  const std::int64_t value = in.i64();
  if (value == 0) in.fail();
  return value;
}

std::string_view read_nonempty(WireReader& in) {
  const std::string_view value = in.bytes();
  if (value.empty()) in.fail();
  return value;
}

RangeRequest read_range(WireReader& in) {
  RangeRequest r;
  const std::uint16_t flags = in.u16();
  if (flags & ~kRangeFlags) in.fail();
  r.key = in.bytes();
  if (flags & kRangeEnd) r.range_end = read_nonempty(in);
  if (flags & kLimit) r.limit = read_nonzero(in);
  if (flags & kRevision) r.revision = read_nonzero(in);
  if (flags & kSort) {
    r.sort_order = read_enum(in, SortOrder::kDescend);
    r.sort_target = read_enum(in, SortTarget::kValue);
    if (!has_sort(r)) in.fail();
  }
  if (flags & kFilters) {
    r.min_mod_revision = in.i64();
    r.max_mod_revision = in.i64();
    r.min_create_revision = in.i64();
    r.max_create_revision = in.i64();
    if (!has_filters(r)) in.fail();
  }
  if (flags & kTaken) r.taken = read_nonzero(in);
  if (flags & kPage) r.step_entries = in.u32();
  if ((flags & kPage) && r.step_entries == 0) in.fail();
  r.keys_only = flags & kKeysOnly;
  r.count_only = flags & kCountOnly;
  return r;
}

template <typename Put>  // PutRequest or PutView
void read_put(WireReader& in, Put& r) {
  const std::uint8_t flags = in.u8();
  if (flags & ~kPutFlags) in.fail();
  r.key = in.bytes();
  r.value = in.bytes();
  if (flags & kPutLease) r.lease = read_nonzero(in);
  r.prev_kv = flags & kPutPrev;
  r.ignore_value = flags & kPutIgnoreValue;
  r.ignore_lease = flags & kPutIgnoreLease;
}

PutRequest read_put(WireReader& in) {
  PutRequest r;
  read_put(in, r);
  return r;
}

DeleteRangeRequest read_delete(WireReader& in) {
  DeleteRangeRequest r;
  const std::uint8_t flags = in.u8();
  if (flags & ~kDeleteFlags) in.fail();
  r.key = in.bytes();
  if (flags & kDeleteEnd) r.range_end = read_nonempty(in);
  r.prev_kv = flags & kDeletePrev;
  return r;
}

Compare read_compare(WireReader& in) {
  Compare c;
  c.result = read_enum(in, CompareResult::kNotEqual);
  c.target = read_enum(in, CompareTarget::kLease);
  const std::uint8_t flags = in.u8();
  if (flags & ~kCompareFlags) in.fail();
  c.key = in.bytes();
  if (flags & kCompareEnd) c.range_end = read_nonempty(in);
  if (c.target == CompareTarget::kValue) {
    c.value = in.bytes();
  } else {
    c.number = in.i64();
  }
  return c;
}

HashRequest read_hash(WireReader& in) {
  HashRequest r;
  const std::uint8_t flags = in.u8();
  if (flags & ~kHashFlags) in.fail();
  r.revision = in.i64();
  if (flags & kHashPart) r.step_entries = in.u32();
  if ((flags & kHashPart) && r.step_entries == 0) in.fail();
  if (flags & kHashFrom) r.from = read_nonempty(in);
  if (flags & kHashBelow) r.below = read_nonzero(in);
  return r;
}

// Vectors grow as elements decode, never by an announced count: memory stays proportional to the input.
TxnRequest read_txn(WireReader& in, int depth);

// Calls out(request) with an operation of that kind; fails the reader if it is of another kind.
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

struct AppendOperation {
  std::vector<Operation>& operations;
  void operator()(TxnRequest nested) const { operations.push_back(std::make_shared<TxnRequest>(std::move(nested))); }
  template <typename T>
  void operator()(T request) const {
    operations.push_back(std::move(request));
  }
};

std::vector<Operation> read_operations(WireReader& in, int depth) {
  std::vector<Operation> operations;
  for (std::uint32_t left = in.u32(); left > 0 && !in.failed(); --left) {
    read_operation(in, static_cast<Kind>(in.u8()), depth + 1, AppendOperation{operations});
  }
  return operations;
}

TxnRequest read_txn(WireReader& in, int depth) {
  TxnRequest txn;
  if (depth > kTxnDepthMax) in.fail();
  for (std::uint32_t left = in.u32(); left > 0 && !in.failed(); --left) txn.compare.push_back(read_compare(in));
  txn.success = read_operations(in, depth);
  txn.failure = read_operations(in, depth);
  return txn;
}

EventsRequest read_events(WireReader& in) {
  EventsRequest r;
  r.from.revision = in.i64();
  r.from.place = in.u32();
  r.at_least = in.i64();
  r.known_compacted = in.i64();
  r.bytes_max = in.u32();
  const std::uint8_t prev_kv = in.u8();
  if (prev_kv > 1) in.fail();
  r.prev_kv = prev_kv == 1;
  for (std::uint32_t left = in.u32(); left > 0 && !in.failed(); --left) {
    EventRange& range = r.ranges.emplace_back();
    range.key = in.bytes();
    range.range_end = in.bytes();
  }
  return r;
}

Request read_request(WireReader& in, Kind kind) {
  if (kind == Kind::kCompact) return CompactRequest{in.i64()};
  if (kind == Kind::kHash) return read_hash(in);
  if (kind == Kind::kAlarm) return AlarmRequest{read_enum(in, AlarmRequest::Action::kDeactivate)};
  if (kind == Kind::kEvents) return read_events(in);
  if (is_lease_kind(kind)) return read_lease_request(in, kind);
  Request request;
  read_operation(in, kind, 1, [&](auto read) { request = std::move(read); });
  return request;
}

// A little more than the request takes, so that its bytes are copied once.
std::size_t room_for(const Request& request) {
  constexpr std::size_t kFixed = 64;
  if (const auto* put = std::get_if<PutRequest>(&request)) return kFixed + put->key.size() + put->value.size();
  if (const auto* range = std::get_if<RangeRequest>(&request)) {
    return kFixed + range->key.size() + range->range_end.size();
  }
  return kFixed;
}

}  // namespace

std::string encode(const Request& request) {
  WireWriter out(room_for(request));
  std::visit([&](const auto& r) { write(out, r); }, request);
  return out.take();
}

std::string_view put_key(std::string_view request) {
  WireReader in(request);
  if (static_cast<Kind>(in.u8()) != Kind::kPut) return {};
  in.u8();
  return in.bytes();
}

std::optional<PutView> decode_put(std::string_view request) {
  WireReader in(request);
  if (static_cast<Kind>(in.u8()) != Kind::kPut) return std::nullopt;
  PutView put;
  read_put(in, put);
  return in.ok() ? std::optional<PutView>(put) : std::nullopt;
}

absl::StatusOr<Request> decode_request(std::string_view bytes) {
  WireReader in(bytes);
  absl::StatusOr<Request> request(absl::in_place);
  const auto kind = static_cast<Kind>(in.u8());
  if (kind == Kind::kPut) {
    read_put(in, request->emplace<PutRequest>());  // in place: nearly all commands are puts
  } else {
    *request = read_request(in, kind);
  }
  if (!in.ok()) return absl::InvalidArgumentError("the bytes are not an encoded key-value request");
  return request;
}

}  // namespace ingot::kv
