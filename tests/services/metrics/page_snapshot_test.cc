#include "services/metrics/page_snapshot.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <vector>

#include "core/prng.h"
#include "replication/pages/page_access.h"

namespace ingot {
namespace {

using Kind = CounterResetAdjuster::Kind;

std::uint64_t adjusted(CounterResetAdjuster& adjuster, Kind kind, std::uint64_t incarnation, std::uint64_t value) {
  adjuster.adjust(incarnation, std::span(&kind, 1), std::span(&value, 1));
  return value;
}

TEST_CASE("events of all incarnations add up") {
  CounterResetAdjuster adjuster;
  CHECK(adjusted(adjuster, Kind::kSum, 1, 5) == 5);
  CHECK(adjusted(adjuster, Kind::kSum, 1, 9) == 9);
  CHECK(adjusted(adjuster, Kind::kSum, 2, 3) == 12);   // fell
  CHECK(adjusted(adjuster, Kind::kSum, 3, 30) == 42);  // has passed its predecessor already
  CHECK(adjusted(adjuster, Kind::kSum, 3, 30) == 42);
}

TEST_CASE("an incarnation that is seen before it is ready counts once") {
  CounterResetAdjuster adjuster;
  CHECK(adjusted(adjuster, Kind::kSum, 1, 5) == 5);
  CHECK(adjusted(adjuster, Kind::kSum, 0, 2) == 7);
  CHECK(adjusted(adjuster, Kind::kSum, 2, 4) == 9);
}

TEST_CASE("a value that was read ahead of its incarnation's number counts once") {
  CounterResetAdjuster adjuster;
  CHECK(adjusted(adjuster, Kind::kSum, 1, 5) == 5);
  CHECK(adjusted(adjuster, Kind::kSum, 1, 2) == 7);
  CHECK(adjusted(adjuster, Kind::kSum, 0, 3) == 8);
  CHECK(adjusted(adjuster, Kind::kSum, 2, 4) == 9);
  CHECK(adjusted(adjuster, Kind::kSum, 3, 4) == 13);
}

TEST_CASE("slots are held until a new incarnation has reached them") {
  CounterResetAdjuster adjuster;
  CHECK(adjusted(adjuster, Kind::kMax, 1, 100) == 100);
  CHECK(adjusted(adjuster, Kind::kMax, 2, 40) == 100);
  CHECK(adjusted(adjuster, Kind::kMax, 2, 101) == 101);
}

TEST_CASE("gauges are not adjusted") {
  CounterResetAdjuster adjuster;
  CHECK(adjusted(adjuster, Kind::kGauge, 1, 100) == 100);
  CHECK(adjusted(adjuster, Kind::kGauge, 2, 4) == 4);
}

// The simple model counts events as they happen. Readings come at random moments; incarnations end between them, but
// none begins and ends without a reading.
TEST_CASE("counters of random incarnations never decrease and miss nothing that was read") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u);
  CAPTURE(seed);
  Prng random(seed);
  CounterResetAdjuster sums, places;
  std::uint64_t incarnation = 1, value = 0, ended_incarnations = 0, last_seen = 0, highest = 0;
  std::uint64_t last_sum = 0, last_place = 0;
  for (int step = 0; step < 5000; ++step) {
    value += random.below(10);
    const std::uint64_t sum = adjusted(sums, Kind::kSum, incarnation, value);
    const std::uint64_t place = adjusted(places, Kind::kMax, incarnation, value);
    last_seen = value;
    highest = std::max(highest, value);
    REQUIRE(sum == ended_incarnations + value);
    REQUIRE(place == highest);
    REQUIRE((sum >= last_sum && place >= last_place));
    last_sum = sum;
    last_place = place;
    if (random.chance(0.02)) {
      ended_incarnations += last_seen;
      ++incarnation;
      value = random.below(3 * (last_seen + 1));
    }
  }
}

TEST_CASE("a snapshot has every number of its page in its place") {
  auto page = std::make_unique<ReplicaPage>();
  for (std::size_t i = 0; i < page->counters.size(); ++i) page->counters[i].set(1000 + i);
  for (std::size_t e = 0; e < kEndpointsMax; ++e) {
    page->sent[e].messages.set(2000 + e);
    page->sent[e].bytes.set(3000 + e);
    page->received[e].messages.set(4000 + e);
    page->received[e].bytes.set(5000 + e);
  }
  for (std::size_t b = 0; b < page->batch_commands.size(); ++b) page->batch_commands[b].set(6000 + b);
  page->batch_commands_sum.set(7000);

  const PageSnapshot snapshot(*page);
  for (std::size_t i = 0; i < page->counters.size(); ++i)
    CHECK(snapshot.counter(static_cast<ReplicaCounter>(i)) == 1000 + i);
  for (std::size_t e = 0; e < kEndpointsMax; ++e) {
    CHECK(snapshot.sent_messages(e) == 2000 + e);
    CHECK(snapshot.sent_bytes(e) == 3000 + e);
    CHECK(snapshot.received_messages(e) == 4000 + e);
    CHECK(snapshot.received_bytes(e) == 5000 + e);
  }
  for (std::size_t b = 0; b < page->batch_commands.size(); ++b) CHECK(snapshot.batches(b) == 6000 + b);
  CHECK(snapshot.batch_commands_sum() == 7000);
}

// Regression: a new incarnation went on from the numbers that its predecessor had left on the page, and they counted
// twice.
TEST_CASE("a restarted replica's events go on, its slots do not jump, its gauges are new") {
  auto page = std::make_unique<ReplicaPage>();
  CounterResetAdjuster adjuster;
  const auto read = [&] {
    PageSnapshot snapshot(*page);
    snapshot.adjust(adjuster);
    return snapshot;
  };
  page->incarnation.set(1);
  (*page)[ReplicaCounter::kAppliedSlots].set(50);
  (*page)[ReplicaCounter::kLoopSleeps].add(7);
  (*page)[ReplicaCounter::kStoreKeys].set(9);
  page->sent[1].messages.add(11);
  page->batch_commands[2].add(5);
  read();

  begin_incarnation(*page);
  const PageSnapshot begun = read();
  CHECK(begun.counter(ReplicaCounter::kLoopSleeps) == 7);
  CHECK(begun.sent_messages(1) == 11);
  (*page)[ReplicaCounter::kAppliedSlots].set(20);
  (*page)[ReplicaCounter::kLoopSleeps].add(1);
  (*page)[ReplicaCounter::kStoreKeys].set(3);
  page->sent[1].messages.add(2);
  page->batch_commands[2].add(4);
  for (const std::uint32_t incarnation : {0u, 2u}) {
    if (incarnation != 0) announce_incarnation(*page, Incarnation(incarnation));
    const PageSnapshot second = read();
    CHECK(second.counter(ReplicaCounter::kAppliedSlots) == 50);
    CHECK(second.counter(ReplicaCounter::kLoopSleeps) == 8);
    CHECK(second.counter(ReplicaCounter::kStoreKeys) == 3);
    CHECK(second.sent_messages(1) == 13);
    CHECK(second.batches(2) == 9);
  }
}

TEST_CASE("an incarnation begins with an empty page, but for the lost lines of the log") {
  auto page = std::make_unique<ReplicaPage>(), empty = std::make_unique<ReplicaPage>();
  std::memset(static_cast<void*>(page.get()), 1, sizeof *page);
  empty->layout_version.set(page->layout_version.get());
  empty->log_lines_lost.set(page->log_lines_lost.get());
  begin_incarnation(*page);
  CHECK(std::memcmp(static_cast<const void*>(page.get()), static_cast<const void*>(empty.get()), sizeof *page) == 0);
}

}  // namespace
}  // namespace ingot
