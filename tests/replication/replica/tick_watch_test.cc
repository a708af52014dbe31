// Whether a replica that does not lead misses ticks.
#include <catch2/catch.hpp>

#include <cstdint>

#include "replication/replica/tick_watch.h"

namespace ingot {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

StateMachine::Clock clock_at(std::uint64_t number) {
  StateMachine::Clock clock;
  clock.runs = true;
  clock.last.number = number;
  return clock;
}

TEST_CASE("a follower misses a tick once none has come for long, and again after as long") {
  TickWatch watch;
  REQUIRE(!watch.missed(1));
  watch.note(clock_at(1), false, 10 * kMs);
  REQUIRE(watch.due_ns() == (10 + kTickSilenceMs) * kMs);
  watch.note(clock_at(1), false, 500 * kMs);  // a round without a new tick
  REQUIRE(!watch.missed(watch.due_ns() - 1));
  const std::uint64_t first_ns = watch.due_ns();
  REQUIRE(watch.missed(first_ns));
  REQUIRE(!watch.missed(first_ns));
  REQUIRE(!watch.missed(first_ns + kTickSilenceMs * kMs - 1));
  REQUIRE(watch.missed(first_ns + kTickSilenceMs * kMs));
}

TEST_CASE("each new tick gives the leader as long again") {
  TickWatch watch;
  for (std::uint64_t number = 1; number <= 20; ++number) {
    const std::uint64_t now_ns = number * 900 * kMs;
    REQUIRE(!watch.missed(now_ns));
    watch.note(clock_at(number), false, now_ns);
  }
}

TEST_CASE("a leader, and a replica whose state has no time, miss nothing") {
  TickWatch watch;
  watch.note(clock_at(1), false, 1);
  watch.note(clock_at(1), true, 2);
  REQUIRE(watch.due_ns() == Pollable::kNever);
  watch.note(clock_at(1), false, 3);
  watch.note({}, false, 4);
  REQUIRE(watch.due_ns() == Pollable::kNever);
  REQUIRE(!watch.missed(~std::uint64_t{0} - 1));
}

}  // namespace
}  // namespace ingot
