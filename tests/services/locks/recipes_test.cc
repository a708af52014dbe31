// The names of keys of locks and elections: those of etcd's own clients.
#include <catch2/catch.hpp>

#include <limits>

#include "services/locks/recipes.h"

namespace ingot::locks {
namespace {

TEST_CASE("A key is the name and the lease in hexadecimal, as Go prints it") {
  CHECK(key_of("a", 0x694d77aa9e38260f) == "a/694d77aa9e38260f");
  CHECK(key_of("", 10) == "/a");
  CHECK(key_of("a/b", -5) == "a/b/-5");
  CHECK(key_of("a", std::numeric_limits<std::int64_t>::min()) == "a/-8000000000000000");
}

TEST_CASE("A lock's keys are those that begin with its name and a slash") {
  const kv::RangeRequest all = first_of(prefix_of("a"));
  CHECK(all.key == "a/");
  CHECK(all.range_end == "a0");
}

}  // namespace
}  // namespace ingot::locks
