// How long a client may take for a backup, and how often a snapshot is made for one.
#include <catch2/catch.hpp>
#include <chrono>

#include "services/backup/reader_bound.h"
#include "services/backup/wish_pace.h"

namespace ingot {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t kMib = 1024 * 1024;

TEST_CASE("a client that takes nothing loses its place, and one that goes on does not") {
  ReaderBound still(1000 * kMib), reads(1000 * kMib);
  for (std::int64_t ms = kBackupWatchMs; ms < kBackupStillMs; ms += kBackupWatchMs) REQUIRE(still.look(0));
  CHECK_FALSE(still.look(0));
  for (std::uint64_t parts = 1; parts <= 16'000 / 16; ++parts) REQUIRE(reads.look(16 * parts));  // 1 MiB each
}

// Two clients that took a part now and then kept both places of TCP for as long as they liked.
TEST_CASE("a client that takes a part now and then loses its place when the time for the file is over") {
  const std::uint64_t bytes = 100 * kMib;
  CHECK(ReaderBound::longest_ms(bytes) == 160'000);
  ReaderBound trickles(bytes);
  std::int64_t ms = kBackupWatchMs;
  for (std::uint64_t parts = 1; trickles.look(parts); ++parts) ms += kBackupWatchMs;
  CHECK(ms == 160'000);
}

// Calls without end had one snapshot after the other made.
TEST_CASE("the next wish comes no earlier than ten times what the last one took, and one at a time") {
  const WishPace::Time begin{};
  const auto next_after = [&](WishPace::Time::duration took) {
    WishPace pace;
    REQUIRE(pace.take(begin + seconds(1)));
    CHECK_FALSE(pace.take(begin + seconds(1000)));  // that one is not made yet
    pace.end(begin + seconds(1) + took);
    WishPace::Time now = begin + seconds(1) + took;
    while (!pace.take(now)) now += milliseconds(10);
    return std::chrono::duration_cast<milliseconds>(now - begin - seconds(1)).count();
  };
  CHECK(next_after(milliseconds(20)) == kBackupIntervalMs);
  CHECK(next_after(milliseconds(500)) == 5'000);
  CHECK(next_after(seconds(3)) == 30'000);
  CHECK(next_after(seconds(30)) == kBackupIntervalMsMax);
  CHECK(next_after(seconds(170)) == 170'000);
}

}  // namespace
}  // namespace ingot
