// The set of endpoints against a std::set of their numbers.
#include "core/limits.h"
#include "core/replica_set.h"

#include <catch2/catch.hpp>
#include <iterator>
#include <set>
#include <vector>

#include "core/prng.h"

namespace ingot {
namespace {

static_assert(kEndpointsMax <= ReplicaSet::kCapacity && kReplicasMax <= ReplicaSet::kCapacity);
static_assert(ReplicaSet().empty() && ReplicaSet::first(64).size() == 64 && ReplicaSet::first(0).empty());

std::vector<int> members(ReplicaSet set) {
  std::vector<int> numbers;
  for (const EndpointId each : set) numbers.push_back(each.value());
  return numbers;
}

std::vector<int> members(const std::set<int>& set) { return {set.begin(), set.end()}; }

TEST_CASE("a set holds what was inserted and not erased, in order") {
  Prng prng(1);
  ReplicaSet set;
  std::set<int> model;
  for (int i = 0; i < 5000; ++i) {
    const int endpoint = static_cast<int>(prng.below(ReplicaSet::kCapacity));
    if (prng.chance(0.5)) {
      set.insert(endpoint);
      model.insert(endpoint);
    } else {
      set.erase(EndpointId(static_cast<std::uint16_t>(endpoint)));
      model.erase(endpoint);
    }
    REQUIRE(members(set) == members(model));
    REQUIRE(set.size() == static_cast<int>(model.size()));
    REQUIRE(set.empty() == model.empty());
    REQUIRE(ReplicaSet::from_bits(set.bits()) == set);
  }
}

TEST_CASE("union, intersection and difference are those of sets") {
  Prng prng(2);
  for (int i = 0; i < 500; ++i) {
    const ReplicaSet a = ReplicaSet::from_bits(prng() & prng());
    const ReplicaSet b = ReplicaSet::from_bits(prng() | prng());
    for (int endpoint = 0; endpoint < ReplicaSet::kCapacity; ++endpoint) {
      REQUIRE((a | b).contains(endpoint) == (a.contains(endpoint) || b.contains(endpoint)));
      REQUIRE((a & b).contains(endpoint) == (a.contains(endpoint) && b.contains(endpoint)));
      REQUIRE((a - b).contains(endpoint) == (a.contains(endpoint) && !b.contains(endpoint)));
    }
    REQUIRE((a | b).contains_all(a));
    REQUIRE(b.contains_all(a) == (a - b).empty());
  }
}

TEST_CASE("numbers out of range are in no set, and erasing them changes nothing") {
  ReplicaSet all = ReplicaSet::first(64);
  for (const int endpoint : {-1, 64, 65, 1 << 16}) {
    CHECK_FALSE(all.contains(endpoint));
    all.erase(endpoint);
  }
  CHECK_FALSE(all.contains(EndpointId(64)));
  CHECK_FALSE(all.contains(EndpointId(0xffff)));
  CHECK(all == ReplicaSet::first(64));
}

TEST_CASE("the edges of the word are members like others") {
  CHECK(members(ReplicaSet::of(0) | ReplicaSet::of(EndpointId(63))) == std::vector{0, 63});
  CHECK(members(ReplicaSet::first(3)) == std::vector{0, 1, 2});
  ReplicaSet set = ReplicaSet::first(5) - ReplicaSet::of(2);
  CHECK(members(set) == std::vector{0, 1, 3, 4});
  set.clear();
  CHECK(set.begin() == set.end());
}

}  // namespace
}  // namespace ingot
