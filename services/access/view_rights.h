// Who may read an instance's view in place: the daemon's own user, root, and those whom --view-users and --view-groups
// name. What a process is decides the kernel's word for its connection alone.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ingot::inline services_access {

struct ViewRights {
  uid_t owner = ::geteuid();
  std::vector<uid_t> users;
  std::vector<gid_t> groups;
};

// The kernel's word for the process that made a connection (SO_PEERCRED, SO_PEERGROUPS).
struct ViewCaller {
  uid_t uid = 0;
  std::vector<gid_t> groups;  // the process's own one included
};

// Lists of names or numbers with commas between them. Errors: INVALID_ARGUMENT (there is no such user or group).
absl::StatusOr<ViewRights> view_rights(const std::string& users, const std::string& groups);

// Who has made a Unix connection. Errors: UNAVAILABLE (the kernel does not say).
absl::StatusOr<ViewCaller> view_caller(int connection);

// Errors: PERMISSION_DENIED, with a sentence that says how it can be had. `overflow`: the user as which all are shown
// whom this user namespace has no number for, and who therefore never counts.
absl::Status may_view(const ViewCaller& caller, const ViewRights& rights, uid_t overflow);

// That user (/proc/sys/kernel/overflowuid).
uid_t overflow_user();

}  // namespace ingot::services_access
