#include "services/access/access_rules.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "services/access/method_access.h"

namespace ingot::inline services_access {

namespace {

constexpr uid_t kRoot = 0;

// "root", or "user 997 or root".
std::string owners(const AccessRules& rules) {
  return rules.owner == kRoot ? "root" : absl::StrCat("user ", rules.owner, " or root");
}

std::string how(const Caller& caller, const AccessRules& rules) {
  if (caller.credentials) {
    return absl::StrCat("the caller is user ", caller.credentials->uid, "; call it as ", owners(rules));
  }
  if (rules.socket.empty()) {
    return absl::StrCat("call it as ", owners(rules),
                        " by way of the instance's Unix socket, which it lacks: start ingotd with --socket=PATH");
  }
  return absl::StrCat("call it as ", owners(rules), " by way of the Unix socket ", rules.socket,
                      ", which ingotctl finds by itself");
}

}  // namespace

bool is_owner(const Caller& caller, const AccessRules& rules) {
  return caller.door == Caller::Door::kUnix && caller.credentials &&
         (caller.credentials->uid == rules.owner || caller.credentials->uid == kRoot);
}

absl::Status may_call(const Caller& caller, std::string_view path, const AccessRules& rules) {
  if (!needs_owner(path) || rules.allow_remote_drills || is_owner(caller, rules)) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(
      absl::StripPrefix(std::string(path), "/"), " is for the daemon's own user and root: ", how(caller, rules),
      "; on a test machine, ingotd --allow-remote-drills lets every caller do it"));
}

}  // namespace ingot::services_access
