#include "replication/store/lease_codec.h"

#include <utility>

#include "core/check.h"

namespace ingot::kv {
namespace {

WireWriter& begin(WireWriter& out, Kind kind) { return out.u8(static_cast<std::uint8_t>(kind)); }

void write_numbers(WireWriter& out, const std::vector<std::int64_t>& numbers) {
  out.u32(static_cast<std::uint32_t>(numbers.size()));
  for (const std::int64_t number : numbers) out.i64(number);
}

// Grows as elements decode: a count that no bytes back reserves no memory.
std::vector<std::int64_t> read_numbers(WireReader& in) {
  std::vector<std::int64_t> numbers;
  std::uint32_t left = in.u32();
  if (left <= in.remaining() / sizeof(std::int64_t)) numbers.reserve(left);
  for (; left > 0 && !in.failed(); --left) numbers.push_back(in.i64());
  return numbers;
}

bool read_flag(WireReader& in) {
  const std::uint8_t value = in.u8();
  if (value > 1) in.fail();
  return value == 1;
}

}  // namespace

// ---- Requests ------------------------------------------------------------------------------------------------------

void write(WireWriter& out, const LeaseGrantRequest& r) { begin(out, Kind::kLeaseGrant).i64(r.id).i64(r.ttl_s); }
void write(WireWriter& out, const LeaseRevokeRequest& r) { begin(out, Kind::kLeaseRevoke).i64(r.id); }
void write(WireWriter& out, const LeaseKeepAliveRequest& r) {
  write_numbers(begin(out, Kind::kLeaseKeepAlive), r.ids);
}
void write(WireWriter& out, const Tick& r) { out.raw(encode(r)); }
void write(WireWriter& out, const LeaseTimeToLiveRequest& r) {
  begin(out, Kind::kLeaseTimeToLive).i64(r.id).u8(r.keys);
}
void write(WireWriter& out, const LeasesRequest&) { begin(out, Kind::kLeases); }

Request read_lease_request(WireReader& in, Kind kind) {
  switch (kind) {
    case Kind::kLeaseGrant: {
      const std::int64_t id = in.i64();
      return LeaseGrantRequest{id, in.i64()};
    }
    case Kind::kLeaseRevoke:
      return LeaseRevokeRequest{in.i64()};
    case Kind::kLeaseKeepAlive:
      return LeaseKeepAliveRequest{read_numbers(in)};
    case Kind::kTick: {
      const std::uint64_t leadership = in.u64(), number = in.u64();
      return Tick{leadership, number, in.u32()};
    }
    case Kind::kLeaseTimeToLive: {
      const std::int64_t id = in.i64();
      return LeaseTimeToLiveRequest{id, read_flag(in)};
    }
    case Kind::kLeases:
      return LeasesRequest{};
    default:
      INGOT_CHECK(false, "a kind of request about leases");
  }
}

// ---- Results -------------------------------------------------------------------------------------------------------

void write_body(WireWriter& out, const LeaseGrantResult& r) { out.i64(r.id).i64(r.ttl_s); }
void write_body(WireWriter&, const LeaseRevokeResult&) {}
void write_body(WireWriter& out, const LeaseKeepAliveResult& r) { write_numbers(out, r.ttls_s); }
void write_body(WireWriter&, const TickResult&) {}
void write_body(WireWriter& out, const LeaseTimeToLiveResult& r) {
  out.i64(r.ttl_s).i64(r.granted_ttl_s).u32(static_cast<std::uint32_t>(r.keys.size()));
  for (const std::string& key : r.keys) out.bytes(key);
}
void write_body(WireWriter& out, const LeasesResult& r) { write_numbers(out, r.ids); }

void read_lease_result(WireReader& in, Kind kind, Result& result) {
  switch (kind) {
    case Kind::kLeaseGrant: {
      auto& grant = result.body.emplace<LeaseGrantResult>();
      grant.id = in.i64();
      grant.ttl_s = in.i64();
      return;
    }
    case Kind::kLeaseRevoke:
      result.body = LeaseRevokeResult{};
      return;
    case Kind::kLeaseKeepAlive:
      result.body = LeaseKeepAliveResult{read_numbers(in)};
      return;
    case Kind::kTick:
      result.body = TickResult{};
      return;
    case Kind::kLeaseTimeToLive: {
      auto& live = result.body.emplace<LeaseTimeToLiveResult>();
      live.ttl_s = in.i64();
      live.granted_ttl_s = in.i64();
      for (std::uint32_t left = in.u32(); left > 0 && !in.failed(); --left) live.keys.emplace_back(in.bytes());
      return;
    }
    case Kind::kLeases:
      result.body = LeasesResult{read_numbers(in)};
      return;
    default:
      INGOT_CHECK(false, "a kind of result about leases");
  }
}

}  // namespace ingot::kv
