// The part of the codec (grammar: replication/store/codec.h) that is about leases and their time.
#pragma once

#include "core/wire.h"
#include "replication/store/api.h"
#include "replication/store/codec.h"

namespace ingot::kv {

inline bool is_lease_kind(Kind kind) { return kind >= Kind::kLeaseGrant && kind <= Kind::kLeases; }

void write(WireWriter& out, const LeaseGrantRequest& r);
void write(WireWriter& out, const LeaseRevokeRequest& r);
void write(WireWriter& out, const LeaseKeepAliveRequest& r);
void write(WireWriter& out, const Tick& r);
void write(WireWriter& out, const LeaseTimeToLiveRequest& r);
void write(WireWriter& out, const LeasesRequest& r);

void write_body(WireWriter& out, const LeaseGrantResult& r);
void write_body(WireWriter& out, const LeaseRevokeResult& r);
void write_body(WireWriter& out, const LeaseKeepAliveResult& r);
void write_body(WireWriter& out, const TickResult& r);
void write_body(WireWriter& out, const LeaseTimeToLiveResult& r);
void write_body(WireWriter& out, const LeasesResult& r);

// What follows the kind. They fail the reader if it is malformed. REQUIRES: is_lease_kind(kind).
Request read_lease_request(WireReader& in, Kind kind);
void read_lease_result(WireReader& in, Kind kind, Result& result);

}  // namespace ingot::kv
