#include "services/access/view_rights.h"

#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace ingot {
namespace {

constexpr uid_t kOwner = 997, kOverflow = 65534;

ViewRights rights(const char* users, const char* groups) {
  auto parsed = view_rights(users, groups);
  REQUIRE(parsed.ok());
  parsed->owner = kOwner;
  return *parsed;
}

bool may(const ViewRights& rights, uid_t uid, std::vector<gid_t> groups = {1000}) {
  return may_view({uid, std::move(groups)}, rights, kOverflow).ok();
}

TEST_CASE("the daemon's user, root, and those who are named may read the view; nobody else may") {
  const ViewRights nobody = rights("", "");
  CHECK((may(nobody, kOwner) && may(nobody, 0)));
  CHECK_FALSE(may(nobody, 1000));
  const ViewRights some = rights("1000,root", "50,root");
  CHECK((may(some, 1000) && may(some, 0)));
  CHECK_FALSE(may(some, 1001));
  CHECK(may(some, 1001, {7, 50}));
  CHECK(may(some, 1001, {0}));
}

TEST_CASE("the user as which all are shown who have no number here never may, also if it is named") {
  const ViewRights named = rights("65534", "1000");
  CHECK_FALSE(may(named, kOverflow));
  CHECK(may_view({kOverflow, {1000}}, named, kOverflow).message().find("user namespace") != std::string::npos);
}

TEST_CASE("a refusal says who calls and how he may, and an unknown name is refused") {
  const auto refused = may_view({1000, {}}, rights("", ""), kOverflow);
  CHECK(absl::IsPermissionDenied(refused));
  CHECK(refused.message().find("--view-users=1000") != std::string::npos);
  CHECK(absl::IsInvalidArgument(view_rights("no-such-user-here", "").status()));
  CHECK(absl::IsInvalidArgument(view_rights("", "0,no-such-group-here").status()));
  CHECK(absl::IsInvalidArgument(view_rights("0,", "").status()));
  CHECK(absl::IsInvalidArgument(view_rights("", ",").status()));
}

TEST_CASE("the kernel names the user and the groups of a connection") {
  int fds[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
  const auto caller = view_caller(fds[0]);
  ::close(fds[0]);
  ::close(fds[1]);
  REQUIRE(caller.ok());
  CHECK(caller->uid == ::geteuid());
  CHECK(caller->groups.front() == ::getegid());
  CHECK(caller->groups.size() == 1 + static_cast<std::size_t>(::getgroups(0, nullptr)));
}

}  // namespace
}  // namespace ingot
