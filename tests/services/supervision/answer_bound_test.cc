// The bound on a front end's silence, tick by tick.
#include "services/supervision/answer_bound.h"

#include <catch2/catch.hpp>

namespace ingot {
namespace {

// Ticks without an answer until the bound is reached, that tick included.
int ticks_until_killed(AnswerBound& bound) {
  bound.begin();
  int ticks = 1;
  while (!bound.tick()) ++ticks;
  return ticks;
}

void answer_ticks(AnswerBound& bound, std::int64_t ms) {
  for (std::int64_t i = 0; i < ms / kFrontEndAskMs; ++i) {
    REQUIRE_FALSE(bound.tick());
    bound.answered();
  }
}

TEST_CASE("a front end is killed when it has been silent for the bound after the first question") {
  AnswerBound bound(10'000);
  CHECK(bound.bound_ms() == 10'000);
  CHECK(ticks_until_killed(bound) == 11);  // the first tick asks
}

TEST_CASE("an answer at any time before the bound is enough, for ever") {
  AnswerBound bound(3'000);
  bound.begin();
  for (int i = 0; i < 10'000; ++i) {
    for (int silent = 0; silent < 3; ++silent) REQUIRE_FALSE(bound.tick());
    bound.answered();
  }
  CHECK(bound.bound_ms() == 3'000);
}

TEST_CASE("a bound is a whole number of ticks, at least one") {
  CHECK(AnswerBound(1).bound_ms() == kFrontEndAskMs);
  CHECK(AnswerBound(kFrontEndAskMs).bound_ms() == kFrontEndAskMs);
  CHECK(AnswerBound(kFrontEndAskMs + 1).bound_ms() == 2 * kFrontEndAskMs);
}

TEST_CASE("each kill doubles the bound up to its limit, so that a slow front end is not killed again and again") {
  AnswerBound bound(100'000);
  ticks_until_killed(bound);
  CHECK(bound.bound_ms() == 200'000);
  ticks_until_killed(bound);
  CHECK(bound.bound_ms() == kFrontEndTimeoutMsMax);
  ticks_until_killed(bound);
  CHECK(bound.bound_ms() == kFrontEndTimeoutMsMax);

  AnswerBound longer(2 * kFrontEndTimeoutMsMax);  // the operator's own limit is kept
  ticks_until_killed(longer);
  CHECK(longer.bound_ms() == 2 * kFrontEndTimeoutMsMax);
}

TEST_CASE("the first bound holds again after a calm time, which a slow answer begins anew") {
  AnswerBound bound(2'000);
  ticks_until_killed(bound);
  REQUIRE(bound.bound_ms() == 4'000);
  bound.begin();
  answer_ticks(bound, kFrontEndCalmMs - 5 * kFrontEndAskMs);
  CHECK(bound.bound_ms() == 4'000);
  for (int silent = 0; silent < 4; ++silent) REQUIRE_FALSE(bound.tick());  // slower than the first bound allows
  bound.answered();
  answer_ticks(bound, kFrontEndCalmMs - 5 * kFrontEndAskMs);
  CHECK(bound.bound_ms() == 4'000);
  answer_ticks(bound, 6 * kFrontEndAskMs);
  CHECK(bound.bound_ms() == 2'000);
}

}  // namespace
}  // namespace ingot
