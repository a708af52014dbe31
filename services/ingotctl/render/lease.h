// Leases in ingotctl's words: their ids, and what is printed of them.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "proto/etcd/rpc.pb.h"

namespace ingot::inline services_ingotctl_render {

// 16 hexadecimal digits, as etcdctl shows an id; of one below zero those of its two's complement.
std::string lease_name(std::int64_t id);
// The inverse; fewer digits will do. Errors: INVALID_ARGUMENT (a sentence that shows the right form).
absl::StatusOr<std::int64_t> parse_lease(const std::string& text);

// Print the answer of a verb to standard output: text, or with `json` one line of JSON, in which an id is its name.
void print_grant(const etcdserverpb::LeaseGrantResponse& response, bool json);
void print_revoked(std::int64_t id, const etcdserverpb::LeaseRevokeResponse& response, bool json);
void print_kept_alive(const etcdserverpb::LeaseKeepAliveResponse& response, bool json);
void print_leases(const etcdserverpb::LeaseLeasesResponse& response, bool json);
void print_time_to_live(const etcdserverpb::LeaseTimeToLiveResponse& response, bool json);

}  // namespace ingot::services_ingotctl_render
