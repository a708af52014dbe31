#include <catch2/catch.hpp>
#include <string>

#include "services/control/status_hub.h"

namespace ingot {
namespace {

using std::chrono::milliseconds;

StatusSample sample(int at_ms, const std::string& roles, int progress) {
  StatusSample result;
  result.fingerprint = roles;
  result.progress_fingerprint = roles + std::to_string(progress);
  result.at = std::chrono::steady_clock::time_point(milliseconds(at_ms));
  return result;
}

TEST_CASE("a watcher gets the first status, changes at once, and progress now and then") {
  ChangeFilter filter(milliseconds(1000));
  CHECK(filter.admit(sample(0, "a", 1)));
  CHECK(!filter.admit(sample(500, "a", 2)));   // progress, too early
  CHECK(filter.admit(sample(600, "b", 2)));    // a change
  CHECK(!filter.admit(sample(1200, "b", 3)));  // the interval counts from the last sample sent
  CHECK(filter.admit(sample(1600, "b", 3)));
  CHECK(!filter.admit(sample(9000, "b", 3)));  // no change
  CHECK(filter.admit(sample(9001, "b", 4)));
  CHECK(filter.admit(sample(9002, "a", 4)));   // the former value again is a change, too
}

}  // namespace
}  // namespace ingot
