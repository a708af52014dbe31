// The times of an open loop's requests.
#include "services/ingot_load/schedule.h"

#include <catch2/catch.hpp>

namespace ingot::load {
namespace {

TEST_CASE("requests are due at their offset and one each period later, without drift") {
  Schedule schedule(1'000'000'000'000, 250, 1000.0 / 3);
  CHECK(schedule.due_ns() == 1'000'000'000'250);
  schedule.take();
  CHECK(schedule.due_ns() == 1'000'000'000'583);
  for (int i = 1; i < 3'000'000; ++i) schedule.take();
  CHECK(schedule.due_ns() == 1'001'000'000'250);
}

TEST_CASE("requests before a time are taken and counted once") {
  Schedule schedule(1000, 0, 10);
  CHECK(schedule.take_before(1000) == 0);
  CHECK(schedule.take_before(1001) == 1);
  CHECK(schedule.take_before(1050) == 4);
  CHECK(schedule.take_before(1050) == 0);
  CHECK(schedule.due_ns() == 1050);
}

}  // namespace
}  // namespace ingot::load
