// Interrupts through the global interrupt controller.
#include "tests/transport/scc/make_chip.h"

#include <array>
#include <cstdint>
#include <vector>

using namespace ingot;
using namespace ingot::scc;
using namespace ingot::test;

namespace {

constexpr std::uint64_t bit(int core) { return std::uint64_t{1} << core; }
constexpr std::uint64_t kAll = bit(kCores) - 1;

// Core 0 interrupts `targets`; returns for each core after how many core cycles its handler began, 0 for none.
std::array<double, kCores> latencies(std::uint64_t targets) {
  const auto chip = make_chip();
  std::array<double, kCores> cycles{};
  Picoseconds sent = 0;
  const absl::Status status = chip->run([&](Core& core) {
    core.on_interrupt([&](Core& self, std::uint64_t senders) {
      CHECK(senders == bit(0));
      cycles[self.id()] = static_cast<double>(self.now_ps() - sent) * 0.533e-3;
    });
    core.compute(1000);
    if (core.id() == 0) {
      sent = core.now_ps();
      core.interrupt(targets);
    }
    if ((targets & bit(core.id())) != 0) core.wait_for_interrupt();
  });
  REQUIRE(status.ok());
  return cycles;
}

}  // namespace

TEST_CASE("an interrupt takes about 2000 core cycles, for one target and for all") {
  const double one = latencies(bit(1))[1];
  CHECK(one == Approx(2000).epsilon(0.03));
  const auto all = latencies(kAll);
  for (const double each : all) CHECK(each == Approx(2000).epsilon(0.03));
  CHECK(all[1] == Approx(one).epsilon(0.001));
}

TEST_CASE("only those in the mask are interrupted") {
  const auto some = latencies(bit(5) | bit(47));
  for (int core = 0; core < kCores; ++core) CHECK((some[core] != 0) == (core == 5 || core == 47));
}

TEST_CASE("a handler runs in the middle of a computation, which ends so much later") {
  const auto chip = make_chip();
  const std::array<int, 2> cores{0, 9};
  Picoseconds handled = 0, ended = 0;
  on_cores(*chip, cores, [&](Core& core) {
    if (core.id() == 0) {
      core.compute(10'000);
      return core.interrupt(bit(9));
    }
    core.on_interrupt([&](Core& self, std::uint64_t) {
      handled = self.now_ps();
      self.compute(500);
    });
    core.compute(1'000'000);
    ended = core.now_ps();
  });
  const Costs& costs = chip->costs();
  CHECK(handled > costs.core_cycles(11'900));
  CHECK(handled < costs.core_cycles(12'200));
  CHECK(static_cast<double>(ended) == Approx(static_cast<double>(costs.core_cycles(1'000'500) + costs.interrupt_entry +
                                                                 costs.interrupt_return))
                                          .margin(10));
}

TEST_CASE("a masked interrupt waits, and merges with others") {
  const auto chip = make_chip();
  const std::array<int, 4> cores{0, 1, 2, 9};
  std::vector<std::uint64_t> handled;
  on_cores(*chip, cores, [&](Core& core) {
    if (core.id() != 9) return core.interrupt(bit(9));
    core.on_interrupt([&](Core& self, std::uint64_t senders) {
      handled.push_back(senders);
      CHECK(self.now_cycles() >= 100'000);
    });
    core.mask_interrupts();
    core.compute(100'000);
    CHECK(handled.empty());
    core.unmask_interrupts();
    CHECK(handled == std::vector<std::uint64_t>{bit(0) | bit(1) | bit(2)});
  });
}

TEST_CASE("a poller takes interrupts and goes on polling") {
  const auto chip = make_chip();
  const std::array<int, 2> cores{0, 9};
  int handled = 0;
  on_cores(*chip, cores, [&](Core& core) {
    if (core.id() == 0) {
      for (int i = 0; i < 3; ++i) {
        core.interrupt(bit(9));
        core.compute(10'000);
      }
      core.store<std::uint32_t>(mpb_address(9, 0), 1);
      return core.flush_wcb();
    }
    core.on_interrupt([&](Core&, std::uint64_t) { ++handled; });
    core.wait_value<std::uint32_t>(mpb_address(9, 0), [](std::uint32_t v) { return v == 1; });
    CHECK(handled == 3);
    CHECK(core.now_cycles() > 30'000);
  });
}

TEST_CASE("a handler may send, lock and interrupt; it is not interrupted itself") {
  const auto chip = make_chip();
  constexpr std::uint32_t kRounds = 20;
  int depth = 0;
  std::uint32_t handled = 0;
  const std::array<int, 2> cores{0, 47};
  on_cores(*chip, cores, [&](Core& core) {
    const int other = 47 - core.id();
    core.on_interrupt([&, other](Core& self, std::uint64_t senders) {
      CHECK(senders == bit(other));
      if (self.id() == 47) CHECK(++depth == 1);
      self.lock(3);
      self.store<std::uint32_t>(mpb_address(other, 0), ++handled);
      self.flush_wcb();
      self.unlock(3);
      if (handled < kRounds) self.interrupt(bit(other));
      if (self.id() == 47) --depth;
    });
    if (core.id() == 0) core.interrupt(bit(47));
    const Watch watch{mpb_address(core.id(), 0), 4};
    core.wait_until({watch}, [&] {
      core.invalidate_mpb();
      core.load<std::uint32_t>(watch.at);
      return handled == kRounds;
    });
  });
  CHECK(handled == kRounds);
}

TEST_CASE("a core without a handler is not interrupted, and a wait for an interrupt that is never sent is a deadlock") {
  const auto chip = make_chip();
  const std::array<int, 2> cores{0, 9};
  on_cores(*chip, cores, [](Core& core) { core.interrupt(bit(9)); });
  const absl::Status status = chip->run(cores, [](Core& core) {
    core.on_interrupt([](Core&, std::uint64_t) {});
    core.wait_for_interrupt();
  });
  CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
  CHECK(std::string(status.message()).find("core 0 waits since") != std::string::npos);
  CHECK(std::string(status.message()).find("for an interrupt") != std::string::npos);
}
