#include "services/access/view_rights.h"

#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace ingot::inline services_access {

namespace {

constexpr std::size_t kEntryBytesMax = 1024 * 1024;  // a group with many members
constexpr uid_t kOverflowUserDefault = 65534;

std::vector<std::string> parts_of(const std::string& list) {
  if (list.empty()) return {};
  return absl::StrSplit(list, ',');
}

bool find_user(const std::string& name, uid_t& uid) {
  std::uint32_t number = 0;
  if (absl::SimpleAtoi(name, &number)) return uid = number, true;
  std::vector<char> buffer(kEntryBytesMax);
  passwd entry{};
  passwd* found = nullptr;
  ::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (found != nullptr) uid = found->pw_uid;
  return found != nullptr;
}

bool find_group(const std::string& name, gid_t& gid) {
  std::uint32_t number = 0;
  if (absl::SimpleAtoi(name, &number)) return gid = number, true;
  std::vector<char> buffer(kEntryBytesMax);
  struct ::group entry {};
  struct ::group* found = nullptr;
  ::getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (found != nullptr) gid = found->gr_gid;
  return found != nullptr;
}

absl::Status unknown(const char* flag, const char* what, const std::string& name) {
  return absl::InvalidArgumentError(absl::StrCat(flag, ": there is no ", what, " ",
                                                 name.empty() ? "without a name" : name,
                                                 "; give names or numbers, with commas between them"));
}

}  // namespace

absl::StatusOr<ViewRights> view_rights(const std::string& users, const std::string& groups) {
  ViewRights rights;
  for (const std::string& name : parts_of(users)) {
    uid_t uid = 0;
    if (!find_user(name, uid)) return unknown("--view-users", "user", name);
    rights.users.push_back(uid);
  }
  for (const std::string& name : parts_of(groups)) {
    gid_t gid = 0;
    if (!find_group(name, gid)) return unknown("--view-groups", "group", name);
    rights.groups.push_back(gid);
  }
  return rights;
}

absl::StatusOr<ViewCaller> view_caller(int connection) {
  ucred process{};
  socklen_t length = sizeof process;
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &process, &length) != 0) {
    return absl::UnavailableError(absl::StrCat("the kernel does not say who calls: ", std::strerror(errno)));
  }
  ViewCaller caller{process.uid, {process.gid}};
  length = 0;
  ::getsockopt(connection, SOL_SOCKET, SO_PEERGROUPS, nullptr, &length);  // says how many there are
  if (length > 0) {
    std::vector<gid_t> groups(length / sizeof(gid_t));
    if (::getsockopt(connection, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &length) == 0) {
      caller.groups.insert(caller.groups.end(), groups.begin(), groups.end());
    }
  }
  return caller;
}

absl::Status may_view(const ViewCaller& caller, const ViewRights& rights, uid_t overflow) {
  constexpr uid_t kRoot = 0;
  const bool known = caller.uid != overflow;
  if (known && (caller.uid == kRoot || caller.uid == rights.owner)) return absl::OkStatus();
  if (known && absl::c_linear_search(rights.users, caller.uid)) return absl::OkStatus();
  const auto listed = [&](gid_t group) { return absl::c_linear_search(rights.groups, group); };
  if (known && absl::c_any_of(caller.groups, listed)) return absl::OkStatus();
  if (!known) {
    return absl::PermissionDeniedError(absl::StrCat(
        "the caller is user ", caller.uid, ", as which everybody is shown who has no number in the daemon's user "
        "namespace; call as a user that has one"));
  }
  return absl::PermissionDeniedError(
      absl::StrCat("the caller is user ", caller.uid, ", who may not read the view: call as user ", rights.owner,
                   " or root, or start ingotd with --view-users=", caller.uid));
}

uid_t overflow_user() {
  uid_t uid = kOverflowUserDefault;
  std::ifstream("/proc/sys/kernel/overflowuid") >> uid;
  return uid;
}

}  // namespace ingot::services_access
