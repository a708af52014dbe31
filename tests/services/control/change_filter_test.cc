#include <catch2/catch.hpp>
#include <string>

#include "services/control/status_hub.h"

namespace ingot {
namespace {

using std::chrono::milliseconds;

StatusSample sample(int at_ms, const std::string& roles) {
  StatusSample result;
  result.fingerprint = roles;
  result.at = std::chrono::steady_clock::time_point(milliseconds(at_ms));
  return result;
}

TEST_CASE("a watcher gets the first status, changes at once, and a status at each interval though nothing changes") {
  ChangeFilter filter(milliseconds(1000));
  CHECK(filter.admit(sample(0, "a")));
  CHECK(!filter.admit(sample(500, "a")));   // too early
  CHECK(filter.admit(sample(600, "b")));    // a change
  CHECK(!filter.admit(sample(1200, "b")));  // the interval counts from the last sample sent
  CHECK(filter.admit(sample(1600, "b")));
  CHECK(filter.admit(sample(9000, "b")));
  CHECK(filter.admit(sample(9001, "a")));  // the former value again is a change, too
}

}  // namespace
}  // namespace ingot
