// Writers are killed at random instants, thousands of times; the segment then has the state before or after the store
// in progress, and is final once the kernel reports the writer's death.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <string>

#include "core/check.h"
#include "core/prng.h"
#include "replication/requests/limits.h"
#include "replication/stable/limits.h"
#include "replication/stable/segment.h"
#include "replication/stable/view.h"
#include "tests/replication/stable/stable_model.h"
#include "tests/seeds.h"
#include "tests/transport/host/child.h"

namespace ingot {
namespace {

const EndpointId kSelf(1);
const Incarnation kLife(5);

struct Workload {
  std::size_t segment_bytes;
  std::size_t command_bytes_max;
  int round_writes;       // of StableScript
  std::uint64_t writes_max;  // before the kill
};

// The writer's progress: `done` writes are stored, and the next one may be in progress.
struct Progress {
  std::atomic<std::uint64_t> done;
};

[[noreturn]] void write_until_killed(int stable_fd, Progress& progress, std::uint64_t seed, const Workload& work) {
  auto writer = StableSegment::open(stable_fd, kSelf, kLife, work.segment_bytes);
  INGOT_CHECK(writer.ok());
  StableScript script(seed, work.command_bytes_max, work.round_writes);
  for (std::uint64_t i = 0; i < 2 * work.writes_max; ++i) {
    INGOT_CHECK((*writer)->store(script.next()));
    (*writer)->clean();
    progress.done.fetch_add(1, std::memory_order_release);
  }
  for (;;) ::pause();
}

void wait_until_gone(const Segment& segment) {
  while (StableView::writer_state(segment.bytes()) != WriterState::kGone) ::sched_yield();
}

// The segment's content after `writes` writes of the script.
std::string expected(std::uint64_t seed, const Workload& work, std::uint64_t writes) {
  StableModel model(kSelf, kLife);
  StableScript script(seed, work.command_bytes_max, work.round_writes);
  for (std::uint64_t i = 0; i < writes; ++i) model.apply(script.next());
  return to_text(model.state());
}

void kill_one_writer(Prng& prng, const Workload& work) {
  const std::uint64_t seed = prng();
  auto stable = create_segment("ingot-test-death", work.segment_bytes);
  auto shared = create_segment("ingot-test-progress", sizeof(Progress));
  REQUIRE(stable.ok());
  REQUIRE(shared.ok());
  auto progress_memory = Segment::map(shared->get(), Segment::Access::kReadWrite);
  auto reader = Segment::map(stable->get(), Segment::Access::kReadOnly);
  Progress& progress = *progress_memory->as<Progress>();

  Child writer([&]() -> int { write_until_killed(stable->get(), progress, seed, work); });
  const std::uint64_t target = prng.below(work.writes_max);
  while (progress.done.load() < target || StableView::writer_state(reader->bytes()) == WriterState::kNone) {
    ::sched_yield();
  }
  for (std::uint64_t spins = prng.below(2000); spins > 0; --spins) asm volatile("");
  writer.kill();
  wait_until_gone(*reader);  // by the kernel's mark, before the process is reaped

  const auto left = StableView::read(reader->bytes());
  INFO("script seed " << seed << ", killed after " << progress.done.load() << " writes: " << left.status());
  if (left.status().code() == absl::StatusCode::kNotFound) {  // it died between lock and initialization
    REQUIRE(progress.done.load() == 0);
    return;
  }
  REQUIRE(left.ok());
  const std::uint64_t done = progress.done.load();
  const std::string text = to_text(*left);
  const bool before = text == expected(seed, work, done);
  if (!before) REQUIRE(text == expected(seed, work, done + 1));

  REQUIRE(writer.wait() == -SIGKILL);
  REQUIRE(to_text(*StableView::read(reader->bytes())) == text);  // final
}

void kill_writers(int kills, const Workload& work) {
  const std::uint64_t seed = testing::drawn_seed();
  INFO("seed " << seed);
  Prng prng(seed);
  for (int i = 0; i < kills; ++i) kill_one_writer(prng, work);
}

// Sanitizers slow replays down so much that the full number would take their whole time.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kKills = 200, kLargeKills = 5;
#else
constexpr int kKills = 2000, kLargeKills = 30;
#endif

TEST_CASE("writers of small commands are killed at any instant, while their ring goes round") {
  const Workload small{
      .segment_bytes = 64 * 1024, .command_bytes_max = 400, .round_writes = 150, .writes_max = 1000};
  kill_writers(kKills, small);
}

TEST_CASE("writers of large commands are killed at any instant") {
  const Workload large{.segment_bytes = kStableSegmentBytes,
                       .command_bytes_max = kBatchBytesMax,
                       .round_writes = 60,
                       .writes_max = 100};
  kill_writers(kLargeKills, large);
}

TEST_CASE("writers that do nothing but promise are killed at any instant") {
  const std::uint64_t seed = testing::drawn_seed();
  INFO("seed " << seed);
  Prng prng(seed);
  for (int i = 0; i < kKills / 4; ++i) {
    auto stable = create_segment("ingot-test-promises", 2 * kStableRingOffset);
    auto reader = Segment::map(stable->get(), Segment::Access::kReadOnly);
    Child writer([&]() -> int {
      auto opened = StableSegment::open(stable->get(), kSelf, kLife, 2 * kStableRingOffset);
      for (std::uint64_t n = 1;; ++n) {
        INGOT_CHECK((*opened)->store({StableWrite::Kind::kPromise, Epoch(n), Ballot(n), Slot(0), nullptr}));
      }
    });
    const auto epoch = [&] {
      const auto view = StableView::read(reader->bytes());
      return view.ok() ? view->epoch.value() : 0;  // the living writer may overtake the read
    };
    while (epoch() == 0) ::sched_yield();
    for (std::uint64_t spins = prng.below(2000); spins > 0; --spins) asm volatile("");
    writer.kill();
    wait_until_gone(*reader);
    const auto left = StableView::read(reader->bytes());
    INFO(left.status());
    REQUIRE(left.ok());
    REQUIRE(left->promised.value() == left->epoch.value());
  }
}

}  // namespace
}  // namespace ingot
