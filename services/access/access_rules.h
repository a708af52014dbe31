// Decides which caller may call which method.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "services/access/caller.h"

namespace ingot::inline services_access {

struct AccessRules {
  uid_t owner = ::geteuid();         // the daemon's own user; root counts as well
  bool allow_remote_drills = false;  // every caller counts as the owner
  std::string socket;                // the Unix socket's path, for the sentence; empty: there is none
};

// Whether the caller is the daemon's own user or root, by the kernel's word.
bool is_owner(const Caller& caller, const AccessRules& rules);

// To be asked before a call begins. Errors: PERMISSION_DENIED, with one sentence that says how it can be made.
// Thread-safe.
absl::Status may_call(const Caller& caller, std::string_view path, const AccessRules& rules);

}  // namespace ingot::services_access
