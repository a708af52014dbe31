// Addresses of servers, and what is none.
#include "services/rpc/client/target.h"

#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <string>

#include "services/rpc/client/limits.h"

namespace ingot::rpc::client {
namespace {

TEST_CASE("an address and a port") {
  const auto v4 = resolve_target("127.0.0.1:2379");
  REQUIRE(v4.ok());
  CHECK(v4->authority == "127.0.0.1:2379");
  REQUIRE(v4->endpoints.size() == 1);
  CHECK(v4->endpoints[0].protocol().family() == AF_INET);
  const auto v6 = resolve_target("[::1]:2379");
  REQUIRE(v6.ok());
  CHECK(v6->authority == "[::1]:2379");
  REQUIRE(v6->endpoints.size() == 1);
  CHECK(v6->endpoints[0].protocol().family() == AF_INET6);
}

TEST_CASE("a Unix socket's path, relative or absolute") {
  for (const char* text : {"unix:a/relative.sock", "unix:/an/absolute.sock", "unix:///an/absolute.sock"}) {
    const auto target = resolve_target(text);
    REQUIRE(target.ok());
    CHECK(target->authority == "localhost");
    REQUIRE(target->endpoints.size() == 1);
    CHECK(target->endpoints[0].protocol().family() == AF_UNIX);
  }
  CHECK(resolve_target("unix:///an/absolute.sock")->endpoints == resolve_target("unix:/an/absolute.sock")->endpoints);
  CHECK(resolve_target("unix:" + std::string(kUnixPathBytesMax, 'x')).ok());
}

TEST_CASE("what is no address is an INVALID_ARGUMENT that says so") {
  for (const std::string& text :
       {std::string("nowhere"), std::string("127.0.0.1"), std::string("::1:2379"), std::string("127.0.0.1:99999"),
        std::string(":1"), std::string("unix:"), "unix:" + std::string(kUnixPathBytesMax + 1, 'x')}) {
    INFO(text);
    CHECK(resolve_target(text).status().code() == absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE("a host without an address is UNAVAILABLE") {
  const absl::Status status = resolve_target("no-such-host.invalid:1").status();
  CHECK(status.code() == absl::StatusCode::kUnavailable);
  CHECK(std::string(status.message()).find("the host of 'no-such-host.invalid:1' has no address") == 0);
}

}  // namespace
}  // namespace ingot::rpc::client
