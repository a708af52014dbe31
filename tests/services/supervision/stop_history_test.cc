#include "services/supervision/stop_history.h"

#include <catch2/catch.hpp>
#include <chrono>

namespace ingot {
namespace {

using std::chrono::milliseconds;

constexpr StopHistory::Time kStart{std::chrono::hours(1)};

TEST_CASE("the first stop is a reason to doubt, and one after kStutterMs of running") {
  StopHistory stops;
  CHECK_FALSE(stops.is_stopped());
  CHECK(stops.stopped(kStart));
  CHECK(stops.is_stopped());
  const auto end = kStart + milliseconds(5);
  stops.continued(end);
  CHECK_FALSE(stops.is_stopped());
  CHECK(stops.stopped(end + milliseconds(kStutterMs)));
}

TEST_CASE("a process that had been stopped until shortly before is not doubted, however long the stop was") {
  StopHistory stops;
  CHECK(stops.stopped(kStart));
  const auto end = kStart + milliseconds(10 * kStutterMs);
  stops.continued(end);
  CHECK_FALSE(stops.stopped(end + milliseconds(kStutterMs - 1)));
}

TEST_CASE("a process that stutters is doubted once") {
  StopHistory stops;
  auto now = kStart;
  CHECK(stops.stopped(now));
  for (int i = 0; i < 100; ++i) {
    stops.continued(now += milliseconds(50));
    CHECK_FALSE(stops.stopped(now += milliseconds(kStutterMs / 2)));
  }
  stops.continued(now);
  CHECK(stops.stopped(now + milliseconds(kStutterMs)));
}

TEST_CASE("a second stop without a report in between shows that the process went on unseen") {
  StopHistory stops;
  CHECK(stops.stopped(kStart));
  CHECK_FALSE(stops.stopped(kStart + milliseconds(3 * kStutterMs)));
}

}  // namespace
}  // namespace ingot
