#include "services/supervision/revision_window.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/check.h"
#include "services/supervision/limits.h"

namespace ingot::inline services_supervision {

namespace {

// So that what is kept is at most a tenth more than asked for, for long times a little more often than needed, and the
// window has room for all of it.
std::int64_t interval_of(const AutoCompaction& wanted) {
  if (wanted.mode == AutoCompactionMode::kRevision) return kRevisionCompactionMs;
  const std::int64_t tenth = std::clamp(wanted.keep / 10, kRevisionSampleMsMin, kRevisionSampleMsMax);
  constexpr auto kSamples = static_cast<std::int64_t>(kRevisionSamplesMax) - 8;
  return std::max(tenth, wanted.keep / kSamples);
}

std::int64_t steady_now_ms() {
  using std::chrono::duration_cast, std::chrono::milliseconds, std::chrono::steady_clock;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

RevisionWindow::RevisionWindow(const AutoCompaction& wanted, DaemonPage& page)
    : wanted_(wanted), interval_ms_(interval_of(wanted)), page_(page) {
  INGOT_CHECK(wanted.on(), "without automatic compaction there is no window");
}

void RevisionWindow::note(std::int64_t now_ms, std::int64_t revision) {
  std::int64_t to = 0;
  if (wanted_.mode == AutoCompactionMode::kRevision) {
    to = revision - wanted_.keep;
  } else {
    sample(now_ms, revision);
    for (const RevisionSample& each : page_.revision_samples) {
      const auto at_ms = static_cast<std::int64_t>(each.steady_ms.get());
      if (at_ms != 0 && now_ms - at_ms >= wanted_.keep) to = std::max(to, static_cast<std::int64_t>(each.revision.get()));
    }
  }
  if (to > static_cast<std::int64_t>(page_.compact_to.get())) page_.compact_to.set(static_cast<std::uint64_t>(to));
}

// Takes the place of the oldest one, which has no time meanwhile: a supervisor may die here. One that has just taken
// over notes its first revision when its predecessor would have noted the next.
void RevisionWindow::sample(std::int64_t now_ms, std::int64_t revision) {
  const auto at_ms = [](const RevisionSample& each) { return static_cast<std::int64_t>(each.steady_ms.get()); };
  const auto by_time = [&](const auto& a, const auto& b) { return at_ms(a) < at_ms(b); };
  const auto [oldest, newest] =
      std::minmax_element(page_.revision_samples.begin(), page_.revision_samples.end(), by_time);
  // The timer may be early by what its clock rounds.
  if (at_ms(*newest) != 0 && now_ms - at_ms(*newest) < interval_ms_ / 2) return;
  oldest->steady_ms.set_release(0);
  oldest->revision.set_release(static_cast<std::uint64_t>(revision));
  oldest->steady_ms.set_release(static_cast<std::uint64_t>(now_ms));
}

absl::Status RevisionTimer::start() {
  const DaemonConfig& config = instance_.config();
  const auto wanted = parse_auto_compaction(config.auto_compaction_mode, config.auto_compaction_retention);
  INGOT_CHECK(wanted.ok(), "the settings were checked at the instance's start");
  if (!wanted->on()) return absl::OkStatus();
  for (const ReplicaLaunch& launch : instance_.launch_spec().replicas) {
    auto page = Segment::map(launch.page_fd, Segment::Access::kReadOnly);
    if (!page.ok()) return page.status();
    pages_.push_back(*std::move(page));
  }
  window_.emplace(*wanted, instance_.page());
  tick();
  return absl::OkStatus();
}

// A page of a dead replica shows an older revision than others do.
void RevisionTimer::tick() {
  std::uint64_t revision = 0;
  for (const Segment& page : pages_) {
    revision = std::max(revision, (*page.as<const ReplicaPage>())[ReplicaCounter::kStoreRevision].get());
  }
  window_->note(steady_now_ms(), static_cast<std::int64_t>(revision));
  timer_.expires_after(std::chrono::milliseconds(window_->interval_ms()));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) tick();
  });
}

}  // namespace ingot::services_supervision
