// Automatic compaction: which revision is old enough, over supervisors that come and go.
#include "services/supervision/revision_window.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

namespace ingot {
namespace {

using Mode = AutoCompactionMode;

constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kHourMs = 60 * kMinuteMs;

AutoCompaction parsed(Mode mode, const std::string& retention) {
  const auto wanted = parse_auto_compaction(mode, retention);
  REQUIRE(wanted.ok());
  return *wanted;
}

std::int64_t due(const DaemonPage& page) { return static_cast<std::int64_t>(page.compact_to.get()); }

TEST_CASE("retention is read as etcd reads it") {
  CHECK(parsed(Mode::kPeriodic, "0").keep == 0);
  CHECK(parsed(Mode::kPeriodic, "3").keep == 3 * kHourMs);
  CHECK(parsed(Mode::kPeriodic, "1h30m").keep == 90 * kMinuteMs);
  CHECK(parsed(Mode::kPeriodic, "10s").keep == 10'000);
  CHECK(parsed(Mode::kRevision, "1000").keep == 1000);
  CHECK_FALSE(parsed(Mode::kRevision, "0").on());
  for (const char* wrong : {"", "-1", "x", "1x", "-5m", "999999999999"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_auto_compaction(Mode::kPeriodic, wrong).ok());
  }
  for (const char* wrong : {"", "-1", "5m", "1.5"}) {
    CAPTURE(wrong);
    const auto refused = parse_auto_compaction(Mode::kRevision, wrong);
    CHECK(refused.status().message() == "--auto-compaction-retention=" + std::string(wrong) +
                                            " will not do; give a number of revisions, as in 1000, or 0 for none");
  }
}

TEST_CASE("revisions are noted ten times in the time to keep, and as often as the window has room for") {
  const auto page = std::make_unique<DaemonPage>();
  const auto interval = [&](const char* retention) {
    return RevisionWindow(parsed(Mode::kPeriodic, retention), *page).interval_ms();
  };
  CHECK(interval("10m") == kMinuteMs);
  CHECK(interval("1h") == 6 * kMinuteMs);
  CHECK(interval("5h") == 6 * kMinuteMs);
  CHECK(interval("100h") == kHourMs);
  CHECK(interval("1ms") == 100);
  CHECK(RevisionWindow(parsed(Mode::kRevision, "5"), *page).interval_ms() == 10'000);
}

TEST_CASE("nothing is due before the time to keep has passed; then what was written within it is kept") {
  for (const char* retention : {"1s", "10m", "1h", "7h", "300h"}) {
    CAPTURE(retention);
    const auto page = std::make_unique<DaemonPage>();
    const AutoCompaction wanted = parsed(Mode::kPeriodic, retention);
    RevisionWindow window(wanted, *page);
    const std::int64_t step = window.interval_ms();
    // A revision is made each millisecond: the revision is the time.
    for (std::int64_t now = 1000; now < 1000 + 4 * wanted.keep; now += step) {
      window.note(now, now);
      REQUIRE(due(*page) <= std::max<std::int64_t>(now - wanted.keep, 0));
      if (now - 1000 >= wanted.keep + step) REQUIRE(due(*page) > now - wanted.keep - step);
    }
  }
}

TEST_CASE("a new supervisor goes on with the window of the one before") {
  const auto page = std::make_unique<DaemonPage>();
  const AutoCompaction wanted = parsed(Mode::kPeriodic, "10m");
  for (std::int64_t now = kMinuteMs; now <= 10 * kMinuteMs; now += kMinuteMs) {
    RevisionWindow(wanted, *page).note(now, now / kMinuteMs);
    RevisionWindow(wanted, *page).note(now + 7, 1'000'000);  // a moment later: too early for another sample
  }
  CHECK(due(*page) == 0);
  RevisionWindow(wanted, *page).note(11 * kMinuteMs, 11);
  CHECK(due(*page) == 1);
  RevisionWindow(wanted, *page).note(31 * kMinuteMs, 40);  // there was none for a while
  CHECK(due(*page) == 11);
}

TEST_CASE("a sample that a supervisor left half written is none") {
  const auto page = std::make_unique<DaemonPage>();
  page->revision_samples[3].revision.set(77);
  RevisionWindow window(parsed(Mode::kPeriodic, "1s"), *page);
  window.note(1'000'000, 5);
  CHECK(due(*page) == 0);
  window.note(1'001'000, 6);
  CHECK(due(*page) == 5);
}

TEST_CASE("by number, the newest revisions are kept, and what was due never falls") {
  const auto page = std::make_unique<DaemonPage>();
  RevisionWindow window(parsed(Mode::kRevision, "100"), *page);
  window.note(1, 99);
  CHECK(due(*page) == 0);
  window.note(2, 1100);
  CHECK(due(*page) == 1000);
  window.note(3, 500);  // the replica with the newest state has died
  CHECK(due(*page) == 1000);
}

}  // namespace
}  // namespace ingot
