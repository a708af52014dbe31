// Which instance an address means: its socket is used only if it is that one's.
#include "services/ingotctl/instance_socket.h"

#include <catch2/catch.hpp>

namespace ingot {
namespace {

TEST_CASE("a loopback address reaches an instance that listens there, or on all addresses") {
  struct Case {
    const char *asked, *listens;
    bool reaches;
  };
  const Case cases[] = {
      {"127.0.0.1:2379", "127.0.0.1:2379", true},
      {"127.0.0.1:2379", "127.0.0.1:2380", false},
      {"127.0.0.1:2379", "0.0.0.0:2379", true},
      {"127.0.0.1:2379", "[::]:2379", true},
      {"127.0.0.1:2379", "localhost:2379", true},
      {"localhost:2379", "127.0.0.1:2379", true},
      {"localhost:2379", "localhost:2379", true},
      {"localhost:2379", "0.0.0.0:2379", true},
      {"127.0.0.2:2379", "127.0.0.1:2379", false},  // another daemon may listen there
      {"127.0.0.2:2379", "127.0.0.2:2379", true},
      {"127.0.0.1:2379", "[::1]:2379", false},
      {"localhost:2379", "[::1]:2379", false},
      {"[::1]:2379", "[::1]:2379", true},
      {"[::1]:2379", "[::]:2379", true},
      {"[::1]:2379", "0.0.0.0:2379", false},
      {"[::1]:2379", "127.0.0.1:2379", false},
      {"192.0.2.1:2379", "192.0.2.1:2379", false},  // not of this machine alone
      {"192.0.2.1:2379", "0.0.0.0:2379", false},
      {"example.org:2379", "0.0.0.0:2379", false},
      {"127.0.0.1:2379", "192.0.2.1:2379", false},
      {"127.0.0.1:2379", "", false},
      {"unix:/run/ingot/a.sock", "127.0.0.1:2379", false},
  };
  for (const Case& each : cases) {
    CAPTURE(each.asked, each.listens);
    CHECK(reaches(each.asked, each.listens) == each.reaches);
  }
}

TEST_CASE("for an address of another machine, or a socket's own, no socket is looked for") {
  for (const char* endpoint : {"192.0.2.1:2379", "example.org:1", "unix:/run/ingot/a.sock"}) {
    CHECK(find_instance_socket(endpoint, nullptr, std::chrono::seconds(1)) == "");
  }
}

}  // namespace
}  // namespace ingot
