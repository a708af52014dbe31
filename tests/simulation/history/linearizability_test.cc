// The linearizability checker on histories that are known to be good or bad, and against a brute-force search.
#include "tests/simulation/history/linearizability.h"

#include <algorithm>

#include <catch2/catch.hpp>

#include "core/prng.h"

namespace ingot::simulation {
namespace {

using Kind = Operation::Kind;

Operation write(Value value, Moment invoked, Moment answered) {
  Operation operation;
  operation.kind = Kind::kWrite;
  operation.written = value;
  operation.invoked = invoked;
  operation.answered = answered;
  return operation;
}

Operation read(Value found, Moment invoked, Moment answered) {
  Operation operation;
  operation.kind = Kind::kRead;
  operation.found = found;
  operation.invoked = invoked;
  operation.answered = answered;
  return operation;
}

// found: the value in the answer if the compare failed; 0 with `done`: it succeeded.
Operation compare(Value expected, Value value, bool done, Value found, Moment invoked, Moment answered) {
  Operation operation = write(value, invoked, answered);
  operation.kind = Kind::kCompareAndWrite;
  operation.expected = expected;
  operation.succeeded = done;
  operation.found = found;
  return operation;
}

bool linearizable(const History& history) { return find_linearizability_violation(history).empty(); }

TEST_CASE("histories that a register can have") {
  CHECK(linearizable({}));
  CHECK(linearizable({read(0, 1, 2)}));
  CHECK(linearizable({write(1, 1, 2), read(1, 3, 4)}));
  CHECK(linearizable({write(1, 1, 10), read(0, 2, 3), read(1, 4, 5)}));
  CHECK(linearizable({write(1, 1, 10), write(2, 2, 11), read(2, 12, 13)}));
  CHECK(linearizable({write(1, 1, 10), write(2, 2, 11), read(1, 12, 13)}));
  CHECK(linearizable({write(1, 1, 2), compare(1, 2, true, 0, 3, 4), read(2, 5, 6)}));
  CHECK(linearizable({write(1, 1, 2), compare(7, 2, false, 1, 3, 4), read(1, 5, 6)}));
  CHECK(linearizable({compare(0, 5, true, 0, 1, 2), read(5, 3, 4)}));
}

TEST_CASE("an unanswered write may have happened at any time, or never") {
  CHECK(linearizable({write(1, 1, kUnanswered), read(1, 2, 3), read(1, 4, 5)}));
  CHECK(linearizable({write(1, 1, kUnanswered), read(0, 2, 3), read(0, 4, 5)}));
  CHECK(linearizable({write(1, 1, kUnanswered), read(0, 2, 3), read(1, 4, 5)}));
  CHECK_FALSE(linearizable({write(1, 1, kUnanswered), read(1, 2, 3), read(0, 4, 5)}));
  CHECK_FALSE(linearizable({write(1, 6, kUnanswered), read(1, 2, 3)}));
}

TEST_CASE("histories that no register can have") {
  SECTION("a stale read") { CHECK_FALSE(linearizable({write(1, 1, 2), write(2, 3, 4), read(1, 5, 6)})); }
  SECTION("a lost write") { CHECK_FALSE(linearizable({write(1, 1, 2), read(0, 3, 4)})); }
  SECTION("a value that no operation wrote") { CHECK_FALSE(linearizable({write(1, 1, 2), read(9, 3, 4)})); }
  SECTION("two readers see two writes in different orders") {
    CHECK_FALSE(linearizable({write(1, 1, 20), write(2, 2, 21), read(1, 3, 4), read(2, 5, 6), read(1, 7, 8)}));
  }
  SECTION("two compares win with the same expectation") {
    CHECK_FALSE(linearizable({write(1, 1, 2), compare(1, 2, true, 0, 3, 10), compare(1, 3, true, 0, 4, 11)}));
  }
  SECTION("a compare fails although no other value was there") {
    CHECK_FALSE(linearizable({write(1, 1, 2), compare(1, 2, false, 0, 3, 4)}));
  }
  SECTION("a write takes effect twice") {
    CHECK_FALSE(linearizable({write(1, 1, 2), write(2, 3, 4), read(2, 5, 6), read(1, 7, 8)}));
  }
}

TEST_CASE("keys are independent, and the violation names the key") {
  Operation other = read(1, 3, 4);
  other.key = 7;
  const std::string violation = find_linearizability_violation({write(1, 1, 2), other});
  CHECK(violation.find("key 7") != std::string::npos);
  other.found = 0;
  CHECK(linearizable({write(1, 1, 2), other}));
}

// Tries every order of the rest of a short history, and both outcomes of each unanswered operation.
bool some_order_fits(const History& left, Value value = 0) {
  const auto told = [](const Operation& operation) { return operation.answered != kUnanswered; };
  if (std::none_of(left.begin(), left.end(), told)) return true;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const Operation& next = left[i];
    const auto precedes = [&](const Operation& other) { return other.answered < next.invoked; };
    if (std::any_of(left.begin(), left.end(), precedes)) continue;
    const bool meets = next.expected == value;
    if (next.kind == Kind::kRead && next.found != value) continue;
    if (next.kind == Kind::kCompareAndWrite && told(next)) {
      if (meets != next.succeeded || (!meets && next.found != value)) continue;
    }
    const bool writes = next.kind == Kind::kWrite || (next.kind == Kind::kCompareAndWrite && meets);
    History rest = left;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    if (some_order_fits(rest, writes ? next.written : value)) return true;
  }
  return false;
}

TEST_CASE("random short histories: the search agrees with trying every order") {
  int good = 0;
  int bad = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    Prng prng(seed);
    History history;
    for (Value i = 1; i <= 2 + prng.below(5); ++i) {
      const Moment invoked = 1 + prng.below(12);
      const Moment answered = invoked + 1 + prng.below(6);
      const auto value = static_cast<Value>(prng.below(4));
      const std::uint64_t dice = prng.below(3);
      if (dice == 0) history.push_back(write(i, 2 * invoked, 2 * answered + 1));
      if (dice == 1) history.push_back(read(value, 2 * invoked, 2 * answered + 1));
      if (dice == 2) history.push_back(compare(value, i, prng.chance(0.6), value + 1, 2 * invoked, 2 * answered + 1));
      history.back().revision = static_cast<std::int64_t>(prng.below(5));
      if (dice != 1 && prng.chance(0.3)) history.back().answered = kUnanswered;
    }
    INFO("seed " << seed);
    const bool expected = some_order_fits(history);
    REQUIRE(linearizable(history) == expected);
    ++(expected ? good : bad);
  }
  CHECK(good > 100);
  CHECK(bad > 100);
}

TEST_CASE("a long history with many concurrent writes is decided without trying every order") {
  History history;
  Moment moment = 1;
  for (Value i = 1; i <= 600; i += 6) {
    for (Value j = 0; j < 6; ++j) history.push_back(write(i + j, moment + j, moment + 20 - j));
    history.push_back(read(i + 3, moment + 30, moment + 31));
    moment += 40;
  }
  CHECK(linearizable(history));
  history.push_back(read(1, moment, moment + 1));
  CHECK_FALSE(linearizable(history));
}

// As when a group has blocked: each unanswered write may have happened, at many places.
TEST_CASE("a long history with many unanswered writes is decided without trying every order") {
  History history;
  Moment moment = 1;
  const auto revise = [&history](std::int64_t revision) { history.back().revision = revision; };
  for (Value i = 1; i <= 600; i += 6) {
    for (Value j = 0; j < 3; ++j) history.push_back(write(i + j, moment + j, kUnanswered));
    history.push_back(compare(i, i + 3, false, 0, moment + 3, kUnanswered));
    history.push_back(write(i + 4, moment + 4, moment + 20));
    revise(i + 1);
    history.push_back(read(i + 3, moment + 30, moment + 31));  // reads alternate: first i was written, then i + 3
    revise(i + 3);
    moment += 40;
  }
  CHECK(linearizable(history));
  History end(history.end() - 12, history.end());
  CHECK(linearizable(end));
  end[5].found = 601;  // the first of two reads finds a value that no operation wrote
  CHECK_FALSE(linearizable(end));
}

}  // namespace
}  // namespace ingot::simulation
