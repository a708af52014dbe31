// The judge of lease holders and watchers refuses what cannot be true, made by hand, and nothing else.
#include <catch2/catch.hpp>

#include "tests/chaos/lease_records.h"

using namespace ingot::chaos;

namespace {

constexpr std::uint64_t kS = 1'000'000'000;

LeaseRecord lease_of(std::uint64_t asked_s) {
  LeaseRecord lease;
  lease.id = 1;
  lease.key = "k";
  lease.ttl_ns = 3 * kS;
  lease.asked_ns = lease.touched_ns = asked_s * kS;
  lease.attached = true;
  return lease;
}

SeenEvents deleted_at(std::uint64_t seen_s) { return {{5, "k", false, 0}, {9, "k", true, seen_s * kS}}; }

Tenure tenure(std::int64_t revision, std::uint64_t from_s, std::uint64_t to_s) {
  return {1, revision, revision, {from_s * kS, to_s * kS}};
}

}  // namespace

TEST_CASE("Events that are lost, doubled, or out of order are found") {
  const SeenEvents all = {{2, "a", false, 0}, {3, "a", true, 0}, {3, "b", true, 0}};
  CHECK(find_event_violation({all, all}, all, true).empty());
  CHECK(find_event_violation({{all[0], all[1]}}, all, false).empty());
  CHECK_FALSE(find_event_violation({all, {all[0], all[1]}}, all, true).empty());
  CHECK_FALSE(find_event_violation({{all[0], all[2]}}, all, false).empty());
  CHECK_FALSE(find_event_violation({{all[0], all[0], all[1], all[2]}}, all, true).empty());
  CHECK_FALSE(find_event_violation({{all[0], all[2], all[1]}}, all, true).empty());
  CHECK_FALSE(find_event_violation({{all[0], all[1], all[2], {4, "c", false, 0}}}, all, true).empty());
}

TEST_CASE("A lock that two hold is found, also when the second lease is shorter") {
  CHECK(find_shared_lock({tenure(2, 4, 6), tenure(1, 1, 4)}).empty());
  CHECK_FALSE(find_shared_lock({tenure(1, 1, 5), tenure(2, 4, 6)}).empty());
  CHECK_FALSE(find_shared_lock({tenure(1, 1, 9), tenure(2, 4, 6)}).empty());
}

TEST_CASE("A lock that goes to an older key is found") {
  CHECK_FALSE(find_shared_lock({tenure(2, 1, 4), tenure(1, 5, 6)}).empty());
}

TEST_CASE("Tenures of different locks have nothing to do with one another") {
  Tenure other = tenure(1, 1, 5);
  other.lock = 2;
  CHECK(find_shared_lock({tenure(2, 1, 5), other}).empty());
}

TEST_CASE("A lease that ends early is found, and none that was given up") {
  CHECK(find_early_end({lease_of(1)}, {deleted_at(4)}, {}).empty());
  CHECK_FALSE(find_early_end({lease_of(1)}, {deleted_at(5), deleted_at(3)}, {}).empty());
  CHECK_FALSE(find_early_end({lease_of(6)}, {deleted_at(5)}, {}).empty());  // it was kept alive after its end
  LeaseRecord given_up = lease_of(1);
  given_up.given_up_ns = 2 * kS;
  CHECK(find_early_end({given_up}, {deleted_at(3)}, {}).empty());
  LeaseRecord refused = lease_of(1);
  refused.refused_ns = 3 * kS;
  CHECK_FALSE(find_early_end({refused}, {}, {}).empty());
}

TEST_CASE("Time in which the whole group is stopped does not count for a lease, but for half a second") {
  const Disturbances stopped{{{2 * kS, 12 * kS}}, {}};
  CHECK_FALSE(find_early_end({lease_of(1)}, {deleted_at(13)}, stopped).empty());
  CHECK(find_early_end({lease_of(1)}, {deleted_at(14)}, stopped).empty());
}

TEST_CASE("How late a lease ends counts from the last disturbance before its end") {
  Disturbances disturbances;
  CHECK(lateness({lease_of(1)}, {deleted_at(6)}, disturbances).most_ns == 2 * kS);
  disturbances.times = {2 * kS, 7 * kS};
  const Lateness found = lateness({lease_of(1)}, {deleted_at(6)}, disturbances);
  CHECK(found.most_ns == 1 * kS);
  CHECK(found.whose == "k");
  CHECK(found.ended == 1);
  CHECK(found.left == 0);
}

TEST_CASE("A key that outlives its lease's holder is found") {
  CHECK(lateness({lease_of(1)}, {{{5, "k", false, 0}}}, {}).left == 1);
  LeaseRecord given_up = lease_of(1);
  given_up.given_up_ns = 2 * kS;
  CHECK(lateness({given_up}, {}, {}).left == 1);
}
