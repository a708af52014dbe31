// Ids of leases in ingotctl's words.
#include <catch2/catch.hpp>
#include <limits>
#include <string>

#include "services/ingotctl/render/lease.h"

namespace ingot {
namespace {

TEST_CASE("a lease's name is read back as its id, also without the zeros before it") {
  for (const std::int64_t id : {std::int64_t{1}, std::int64_t{0x694d77aa9e38260f}, std::int64_t{-1},
                                std::numeric_limits<std::int64_t>::min()}) {
    CHECK(lease_name(id).size() == 16);
    CHECK(parse_lease(lease_name(id)).value() == id);
  }
  CHECK(lease_name(42) == "000000000000002a");
  CHECK(parse_lease("2A").value() == 42);
}

TEST_CASE("what is no id of a lease is refused with the right form") {
  for (const std::string text : {"", "0", "0x2a", "-1", "g", "12345678901234567", " 1"}) {
    INFO(text);
    CHECK_THAT(std::string(parse_lease(text).status().message()), Catch::Contains("hexadecimal digits"));
  }
}

}  // namespace
}  // namespace ingot
