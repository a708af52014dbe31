// Polling: the simulator skips polls that find nothing, without any visible difference.
#include "tests/transport/scc/make_chip.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/prng.h"

using namespace ingot;
using namespace ingot::scc;
using namespace ingot::test;

namespace {

constexpr std::array<int, 2> kTwo{3, 44};

// Polls one by one, each simulated.
void poll_by_hand(Core& core, Address at, std::uint32_t value) {
  for (;;) {
    core.invalidate_mpb();
    if (core.load<std::uint32_t>(at) == value) return;
    core.charge(core.costs().poll);
  }
}

void poll(Core& core, Address at, std::uint32_t value) {
  core.wait_value<std::uint32_t>(at, [value](std::uint32_t now) { return now == value; });
}

}  // namespace

TEST_CASE("a wait ends when polling by hand would have ended") {
  const auto times = [](std::uint64_t seed, double port_cycles, auto wait) {
    ChipOptions options;
    REQUIRE(set_constant(options, "mpb_port_mesh_cycles", port_cycles).ok());
    const auto chip = make_chip(options);
    std::vector<Picoseconds> ends;
    on_cores(*chip, kTwo, [&](Core& core) {
      const int other = core.id() == kTwo[0] ? kTwo[1] : kTwo[0];
      Prng prng(seed * 2 + (core.id() == kTwo[0] ? 1 : 0));
      for (std::uint32_t n = 1; n <= 20; ++n) {
        core.compute(prng.below(3000));
        core.store<std::uint32_t>(mpb_address(other, 0), n);
        core.flush_wcb();
        wait(core, mpb_address(core.id(), 0), n);
        ends.push_back(core.now_ps());
        core.store<std::uint32_t>(mpb_address(other, 32), n);
        core.flush_wcb();
        wait(core, mpb_address(core.id(), 32), n);
        ends.push_back(core.now_ps());
      }
    });
    return ends;
  };
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CHECK(times(seed, 0, poll) == times(seed, 0, poll_by_hand));
    // Skipped polls occupy no port: a writer may arrive 8 mesh cycles earlier.
    const auto left_out = times(seed, 8, poll), by_hand = times(seed, 8, poll_by_hand);
    CHECK(static_cast<double>(left_out.back()) == Approx(static_cast<double>(by_hand.back())).epsilon(0.002));
  }
}

TEST_CASE("a long wait costs no host time, and counts in full in the account") {
  const auto chip = make_chip();
  on_cores(*chip, kTwo, [](Core& core) {
    if (core.id() == kTwo[0]) return poll(core, mpb_address(kTwo[0], 0), 1);
    core.compute(533'000'000'000);  // a thousand seconds
    core.store<std::uint32_t>(mpb_address(kTwo[0], 0), 1);
    core.flush_wcb();
  });
  const CoreCounts& poller = chip->statistics().cores[kTwo[0]];
  CHECK(poller.accesses < 10);
  CHECK(poller.polls_skipped > 5'000'000'000);
  CHECK(static_cast<double>(poller.polling_ps) == Approx(1e15).epsilon(0.01));
}

TEST_CASE("a wait for several lines sees each of them, in MPBs and in memory") {
  const auto chip = make_chip();
  std::array<Address, 3> flags{mpb_address(3, 0), mpb_address(20, 640), shared_address(1 << 20)};
  for (const Address flag : flags) {
    on_cores(*chip, kTwo, [&](Core& core) {
      if (core.id() == kTwo[1]) {
        core.compute(5000);
        core.store<std::uint32_t>(flag, 1);
        return core.flush_wcb();
      }
      std::vector<Watch> watch;
      for (const Address each : flags) watch.push_back({each, 4});
      const Picoseconds from = core.now_ps();
      core.wait_until(
          watch,
          [&] {
            core.invalidate_mpb();
            for (const Address each : flags) {
              if (core.load<std::uint32_t>(each) != 0) return true;
            }
            return false;
          },
          "any of three");
      CHECK(core.now_ps() - from > core.costs().core_cycles(5000));
      CHECK(core.now_ps() - from < core.costs().core_cycles(6500));
    });
    on_core(*chip, 44, [&](Core& core) {
      core.store<std::uint32_t>(flag, 0);
      core.flush_wcb();
    });
  }
}

TEST_CASE("a wait with a deadline gives up then") {
  const auto chip = make_chip();
  on_core(*chip, 0, [](Core& core) {
    const Watch watch{mpb_address(0, 0), 4};
    CHECK_FALSE(core.wait_until(std::span(&watch, 1), [] { return false; }, 5'000'000, "nothing"));
    CHECK(core.now_ps() >= 5'000'000);
    CHECK(core.now_ps() < 5'100'000);
  });
}

TEST_CASE("the host may ring a waiting core, and advance a chip step by step") {
  const auto chip = make_chip();
  int work = 0;
  chip->start(4, [&](Core& core) { core.wait_until({}, [&] { return work != 0; }, "work from the host"); });
  CHECK(chip->advance(1'000'000'000) == Chip::Progress::kIdle);
  CHECK(chip->describe_waiting() == "core 4 waits since 0 us for work from the host");
  chip->ring(4);
  CHECK(chip->advance(1'000'000'000) == Chip::Progress::kIdle);
  work = 1;
  chip->ring(4);
  CHECK(chip->advance(1'000'000'000) == Chip::Progress::kFinished);

  chip->start(5, [](Core& core) {
    for (int i = 0; i < 10; ++i) {
      core.compute(5'330'000);
      core.store<std::uint32_t>(shared_address(0), 1);
    }
  });
  const Picoseconds begin = chip->now_ps();
  CHECK(chip->advance(begin + 35'000'000'000) == Chip::Progress::kDeadline);
  CHECK(chip->running(5));
  CHECK(chip->advance(begin + 1'000'000'000'000) == Chip::Progress::kFinished);
}

TEST_CASE("a deadlock is detected, and reported with each core's reason") {
  const auto chip = make_chip();
  const absl::Status status = chip->run(kTwo, [](Core& core) {
    if (core.id() == kTwo[0]) core.lock(9);
    core.wait_value<std::uint32_t>(
        mpb_address(core.id(), 96), [](std::uint32_t v) { return v == 1; }, "the ready flag");
  });
  CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
  const std::string message(status.message());
  INFO(message);
  CHECK(message.find("deadlock") == 0);
  CHECK(message.find("core 3 waits since") != std::string::npos);
  CHECK(message.find("for the ready flag: MPB of core 44, bytes 96 to 99") != std::string::npos);

  const std::array<int, 1> one{20};
  const absl::Status locked = chip->run(one, [](Core& core) { core.lock(9); });
  CHECK(std::string(locked.message()).find("the test-and-set register of core 9, which core 3 holds") !=
        std::string::npos);
}

TEST_CASE("polling by hand for ever ends at the limit of virtual time") {
  const auto chip = make_chip({.virtual_seconds_max = 0.001});
  const absl::Status status = chip->run(kTwo, [](Core& core) { poll_by_hand(core, mpb_address(core.id(), 0), 1); });
  CHECK(status.code() == absl::StatusCode::kDeadlineExceeded);
  CHECK(std::string(status.message()).find("0.001 virtual seconds") != std::string::npos);
}
