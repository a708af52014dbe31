// What is seen beside a load's requests: events of a key, and leases.
#include <catch2/catch.hpp>

#include <string>

#include "services/ingot_load/kept_lease.h"
#include "services/ingot_load/seen_events.h"

namespace ingot::load {
namespace {

TEST_CASE("each put of a key is told once, in order") {
  SeenEvents seen(3, 40);
  CHECK(seen.next_revision() == 41);
  CHECK(seen.take(4, 41) == nullptr);
  CHECK(seen.take(5, 77) == nullptr);
  CHECK(seen.version() == 5);
  CHECK(seen.next_revision() == 78);
}

TEST_CASE("a lost, a doubled and a late event are told apart") {
  SeenEvents lost;
  REQUIRE(lost.take(1, 2) == nullptr);
  CHECK(lost.take(3, 4) == std::string("came without the one before it"));
  CHECK(lost.take(4, 5) == nullptr);  // it goes on from there
  SeenEvents doubled;
  REQUIRE(doubled.take(1, 2) == nullptr);
  CHECK(doubled.take(1, 2) == std::string("came again, or behind a later one"));
  SeenEvents late;
  REQUIRE(late.take(1, 2) == nullptr);
  CHECK(late.take(1, 3) == std::string("has the version of an earlier one"));
}

TEST_CASE("a lease lives for its TTL at least from each keep-alive's request on") {
  KeptLease lease(7, 1000, 500);
  CHECK(lease.take(1200, 500, 1210) == KeptLease::Answer::kKept);
  CHECK(lease.take(1300, 0, 1699) == KeptLease::Answer::kEndedEarly);
  CHECK(lease.ended());
  KeptLease late(8, 1000, 500);
  CHECK(late.take(1400, 0, 1500) == KeptLease::Answer::kEnded);
  KeptLease shorter(9, 1000, 500);
  CHECK(shorter.take(1010, 100, 1020) == KeptLease::Answer::kKept);  // what it had is not taken back
  CHECK(shorter.take(1400, 0, 1499) == KeptLease::Answer::kEndedEarly);
}

}  // namespace
}  // namespace ingot::load
