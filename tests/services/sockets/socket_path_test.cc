// Where a daemon's socket is, by the rule that daemons and clients share.
#include "services/sockets/socket_path.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

namespace ingot {
namespace {

std::vector<std::string> paths(const char* service, const char* session, const std::string& name) {
  service == nullptr ? ::unsetenv("RUNTIME_DIRECTORY") : ::setenv("RUNTIME_DIRECTORY", service, 1);
  session == nullptr ? ::unsetenv("XDG_RUNTIME_DIR") : ::setenv("XDG_RUNTIME_DIR", session, 1);
  return default_socket_paths(name);
}

using Paths = std::vector<std::string>;

TEST_CASE("the default paths follow from the instance's name and the folders at hand") {
  CHECK(paths(nullptr, nullptr, "a") == Paths{"/run/ingot/a.sock"});
  CHECK(paths(nullptr, "/run/user/7", "a") == Paths{"/run/ingot/a.sock", "/run/user/7/ingot/a.sock"});
  CHECK(paths("/run/x:/run/y", nullptr, "a b") == Paths{"/run/x/a b.sock", "/run/ingot/a b.sock"});
  CHECK(paths("", "relative", "a") == Paths{"/run/ingot/a.sock"});
  CHECK(default_instance_name(2379) == "ingot-2379");
}

TEST_CASE("a path that the kernel does not take is left out; the longest name fits") {
  const std::string longest(90, 'n');
  CHECK(paths(nullptr, "/run/user/1000000", longest) == Paths{"/run/ingot/" + longest + ".sock"});
}

TEST_CASE("a path is a target of gRPC, whatever characters it has") {
  CHECK(unix_target("/run/ingot/ingot-2379.sock") == "unix:/run/ingot/ingot-2379.sock");
  CHECK(unix_target("/a b%?#\xc3\xbc~._") == "unix:/a%20b%25%3F%23%C3%BC~._");
}

}  // namespace
}  // namespace ingot
