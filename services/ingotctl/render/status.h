// Prints statuses as tables or JSON.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "proto/ingot/control/v1/control.pb.h"

namespace ingot::inline services_ingotctl_render {

namespace control_v1 = ::ingot::control::v1;

// "up", "starting", "stopped" or "dead"; "leader", "acceptor" or "replica".
std::string_view state_name(control_v1::State state);
std::string_view role_name(control_v1::Role role);

// One line of JSON: {"name","agreement","transport","backend","isolation","replicas":[{"id","pid","incarnation",
// "state","core","voter","role","epoch","ballot","proposed","decided","applied","lag"}]}. With `digests`, each replica
// ends with "digest" (16 hexadecimal digits) and "digest_slot", both null without an answer. While agreement is blocked
// the object ends with "blocked":{"by","waits_for","reported_by","why","details"}; "by" is null if no particular
// replica is waited for.
std::string status_json(const control_v1::GetStatusResponse& status, bool digests);

// A line about the instance, a table of its replicas and, if agreement is blocked, a line that says why.
std::string status_table(const control_v1::GetStatusResponse& status, bool digests);

// The three parts of it, each of lines that end with a line break; the last may be empty. Of the table's columns the
// less important are left out as far as lines of `columns` have no room for them.
std::string instance_line(const control_v1::Instance& instance);
std::string replica_table(const control_v1::GetStatusResponse& status, bool digests,
                          std::size_t columns = std::numeric_limits<std::size_t>::max());
std::string status_notes(const control_v1::GetStatusResponse& status);

// "supervisor: dead for 12s; ..."; empty while it runs.
std::string supervisor_text(const control_v1::Supervisor& supervisor);

// "blocked: replicas 0, 1 wait for replica 2: WHY", without those that wait or are waited for if there are none. `why`:
// the cause alone, or all details.
std::string blocked_text(const control_v1::Blocked& blocked, const std::string& why);

// One line: the leader, the replicas that are not up, the group's progress and, if agreement is blocked, why.
std::string status_line(const control_v1::GetStatusResponse& status);

}  // namespace ingot::services_ingotctl_render
