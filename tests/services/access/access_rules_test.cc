// Who may call what: by the kernel's word over the Unix socket, and never over TCP.
#include "services/access/access_rules.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "services/access/caller_codec.h"

namespace ingot {
namespace {

constexpr const char* kDrill = "/ingot.control.v1.Control/Drill";
constexpr const char* kPut = "/etcdserverpb.KV/Put";

Caller over_tcp() { return {Caller::Door::kTcp, "127.0.0.1:40312", {}}; }
Caller over_unix(uid_t uid) { return {Caller::Door::kUnix, "unix:pid=4711", Caller::Credentials{uid, 100, 4711}}; }
Caller without_credentials() { return {Caller::Door::kUnix, "unix:", {}}; }
// What no connection is: the credentials count for nothing over TCP.
Caller forged() { return {Caller::Door::kTcp, "127.0.0.1:1", Caller::Credentials{0, 0, 1}}; }

AccessRules rules_of(uid_t owner, bool remote = false, std::string socket = "/run/ingot/a.sock") {
  return {owner, remote, std::move(socket)};
}

struct Case {
  const char* what;
  Caller caller;
  AccessRules rules;
  bool may_drill;
};

TEST_CASE("only the daemon's own user and root may drill; every caller may write keys") {
  const std::vector<Case> cases{
      {"own user", over_unix(997), rules_of(997), true},
      {"root, of a daemon of another user", over_unix(0), rules_of(997), true},
      {"root, of its own daemon", over_unix(0), rules_of(0), true},
      {"another user", over_unix(1000), rules_of(997), false},
      {"another user, of a daemon of root", over_unix(1000), rules_of(0), false},
      {"a group is no user", over_unix(100), rules_of(997), false},
      {"no credentials", without_credentials(), rules_of(0), false},
      {"TCP", over_tcp(), rules_of(997), false},
      {"TCP, of a daemon of root", over_tcp(), rules_of(0), false},
      {"credentials over TCP", forged(), rules_of(0), false},
      {"TCP on a test machine", over_tcp(), rules_of(997, true), true},
      {"another user on a test machine", over_unix(1000), rules_of(997, true), true},
  };
  for (const Case& each : cases) {
    CAPTURE(each.what);
    CHECK(may_call(each.caller, kDrill, each.rules).ok() == each.may_drill);
    CHECK(may_call(each.caller, kPut, each.rules).ok());
    CHECK(may_call(each.caller, "/no.such.Service/Call", each.rules).ok());
  }
}

std::string refusal(const Caller& caller, const AccessRules& rules) {
  const absl::Status status = may_call(caller, kDrill, rules);
  CHECK(absl::IsPermissionDenied(status));
  return std::string(status.message());
}

TEST_CASE("a refusal says how the call can be made") {
  const std::string begin = "ingot.control.v1.Control/Drill is for the daemon's own user and root: ";
  const std::string end = "; on a test machine, ingotd --allow-remote-drills lets every caller do it";
  CHECK(refusal(over_tcp(), rules_of(997)) ==
        begin +
            "call it as user 997 or root by way of the Unix socket /run/ingot/a.sock, which ingotctl finds by "
            "itself" +
            end);
  CHECK(refusal(over_tcp(), rules_of(0, false, "")) ==
        begin +
            "call it as root by way of the instance's Unix socket, which it lacks: start ingotd with --socket=PATH" +
            end);
  CHECK(refusal(over_unix(1000), rules_of(997)) ==
        begin + "the caller is user 1000; call it as user 997 or root" + end);
}

TEST_CASE("a caller's bytes are read as they were written, and others are refused") {
  for (const Caller& each : {over_tcp(), over_unix(4294967294), without_credentials(), Caller{}}) {
    const std::string bytes = encode_caller(each);
    const auto decoded = decode_caller(bytes);
    REQUIRE(decoded);
    CHECK(decoded->door == each.door);
    CHECK(decoded->address == each.address);
    REQUIRE(decoded->credentials.has_value() == each.credentials.has_value());
    if (each.credentials) {
      CHECK(decoded->credentials->uid == each.credentials->uid);
      CHECK(decoded->credentials->gid == each.credentials->gid);
      CHECK(decoded->credentials->pid == each.credentials->pid);
    }
    for (std::size_t length = 0; length < bytes.size(); ++length) CHECK_FALSE(decode_caller(bytes.substr(0, length)));
    CHECK_FALSE(decode_caller(bytes + "x"));
  }
  CHECK_FALSE(decode_caller(std::string("\x02\0\0\0\0\0", 6)));
}

}  // namespace
}  // namespace ingot
