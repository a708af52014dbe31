// Cores that are killed, stopped and resumed, and programs that break their stack.
#include "tests/transport/scc/make_chip.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>

using namespace ingot;
using namespace ingot::scc;
using namespace ingot::test;

namespace {

std::uint32_t count_at(Chip& chip, int core) {
  std::uint32_t count = 0;
  std::memcpy(&count, chip.mpb(core).data(), sizeof count);
  return count;
}

// Counts up in its own MPB, one step every thousand cycles.
void count_to(Core& core, std::uint32_t end) {
  for (std::uint32_t n = 1; n <= end; ++n) {
    core.compute(1000);
    core.store<std::uint32_t>(mpb_address(core.id(), 0), n);
    core.flush_wcb();
  }
}

// The standard error and the end of a child process that runs `body`.
struct Ended {
  std::string text;
  int status = 0;
};
Ended in_child(void (*body)()) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    ::signal(SIGSEGV, SIG_DFL);  // not Catch's
    ::signal(SIGABRT, SIG_DFL);
    body();
    ::_exit(0);
  }
  ::close(ends[1]);
  Ended ended;
  char buffer[512];
  for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    ended.text.append(buffer, static_cast<std::size_t>(n));
  }
  ::close(ends[0]);
  ::waitpid(child, &ended.status, 0);
  return ended;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winfinite-recursion"
int dig(volatile char* above, Core& core) {
  volatile char here[1024];
  here[0] = above[0];
  return dig(here, core) + here[1];
}

// The frame is larger than many pages, even before the compiler merges several.
int dig_wide(volatile char* above, Core& core) {
  volatile char here[20 * 1024];
  here[0] = above[0];
  return dig_wide(here, core) + here[1];
}
#pragma GCC diagnostic pop

void overflow_core_13(int (*digger)(volatile char*, Core&)) {
  const auto chip = make_chip({.stack_bytes = 64 * 1024});
  static_cast<void>(chip->run([digger](Core& core) {
    volatile char top[1] = {};
    if (core.id() == 13) core.compute(static_cast<std::uint64_t>(digger(top, core)));
  }));
}

}  // namespace

TEST_CASE("a killed core does nothing more, and its stack is unwound") {
  const auto chip = make_chip();
  struct Goodbye {
    Core& core;
    int& said;
    ~Goodbye() {
      ++said;
      core.store<std::uint32_t>(mpb_address(1, 0), 99);  // no core may see this
      core.flush_wcb();
      if (core.id() == 2) core.clear_test_and_set(5);
    }
  };
  int goodbyes = 0;
  chip->at(chip->costs().core_cycles(50'500), [&] { chip->kill(2); });
  const std::array<int, 2> cores{1, 2};
  on_cores(*chip, cores, [&](Core& core) {
    const Goodbye goodbye{core, goodbyes};
    if (core.id() == 2) core.lock(5);
    if (core.id() == 2) count_to(core, 100);
    if (core.id() == 1) core.compute(200'000);
  });
  CHECK(goodbyes == 2);
  CHECK(count_at(*chip, 2) > 40);
  CHECK(count_at(*chip, 2) < 51);
  CHECK(chip->killed(2));
  CHECK(chip->run(cores, [](Core&) {}).code() == absl::StatusCode::kInvalidArgument);
  // A lock held by the dead core stays locked.
  const std::array<int, 1> one{1};
  CHECK(chip->run(one, [](Core& core) { core.lock(5); }).code() == absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("a core may be killed while it polls, waits for interrupts, or waits for a lock") {
  const auto chip = make_chip();
  for (int victim = 0; victim < 4; ++victim) {
    chip->at(chip->now_ps() + 50'000'000, [&, victim] { chip->kill(victim); });
    const std::array<int, 1> one{victim};
    CHECK(chip->run(one, [&](Core& core) {
      core.on_interrupt([](Core&, std::uint64_t) {});
      if (victim == 0) core.wait_value<std::uint32_t>(mpb_address(0, 0), [](std::uint32_t v) { return v != 0; });
      if (victim == 1) core.wait_for_interrupt();
      if (victim == 2) core.lock(9);
      if (victim == 2) core.lock(9);
      if (victim == 3) core.compute(1'000'000);
      if (victim == 3) core.load<std::uint32_t>(shared_address(0));
      CHECK(false);
    }).ok());
    CHECK(chip->killed(victim));
  }
}

TEST_CASE("a stopped core does nothing, and goes on where it stopped") {
  const auto chip = make_chip();
  const Costs& costs = chip->costs();
  std::uint32_t before = 0, after = 0;
  chip->at(costs.core_cycles(20'500), [&] { chip->stop(2); });
  chip->at(costs.core_cycles(30'000), [&] { before = count_at(*chip, 2); });
  chip->at(costs.core_cycles(90'000), [&] {
    after = count_at(*chip, 2);
    chip->resume(2);
  });
  on_core(*chip, 2, [&](Core& core) {
    count_to(core, 50);
    CHECK(core.now_ps() > costs.core_cycles(115'000));
  });
  CHECK(before >= 15);
  CHECK(before <= 21);
  CHECK(after == before);
  CHECK(count_at(*chip, 2) == 50);
}

TEST_CASE("a core that is stopped while it polls sees stores of the meantime") {
  const auto chip = make_chip();
  chip->at(1'000'000, [&] { chip->stop(2); });
  chip->at(900'000'000, [&] { chip->resume(2); });
  const std::array<int, 2> cores{1, 2};
  on_cores(*chip, cores, [&](Core& core) {
    if (core.id() == 1) {
      core.compute(100'000);
      core.store<std::uint32_t>(mpb_address(2, 0), 1);
      return core.flush_wcb();
    }
    core.wait_value<std::uint32_t>(mpb_address(2, 0), [](std::uint32_t v) { return v == 1; });
    CHECK(core.now_ps() >= 900'000'000);
    CHECK(core.now_ps() < 901'000'000);
  });
}

TEST_CASE("a core may stop or kill itself, or another") {
  const auto chip = make_chip();
  const std::array<int, 3> cores{1, 2, 3};
  on_cores(*chip, cores, [&](Core& core) {
    if (core.id() == 1) {
      chip->stop(1);
      core.load<std::uint32_t>(shared_address(0));
      CHECK(core.now_cycles() > 5000);
      chip->kill(1);
      core.load<std::uint32_t>(shared_address(0));
      CHECK(false);
    }
    core.compute(10'000);
    core.load<std::uint32_t>(shared_address(0));
    if (core.id() == 2) {
      chip->kill(3);
      chip->resume(1);
    } else {
      core.compute(10'000);
      core.load<std::uint32_t>(shared_address(0));
      CHECK(false);
    }
  });
  CHECK(chip->killed(1));
  CHECK_FALSE(chip->killed(2));
  CHECK(chip->killed(3));
}

TEST_CASE("a program that never leaves its caches can be stopped, killed and ended all the same") {
  const auto chip = make_chip({.virtual_seconds_max = 0.01});
  const auto spin = [](Core& core) {
    for (;;) core.load<std::uint32_t>(mpb_address(0, 0));
  };
  chip->at(1'000'000'000, [&] { chip->stop(2); });
  chip->at(2'000'000'000, [&] { chip->resume(2); });
  chip->at(3'000'000'000, [&] { chip->kill(2); });
  on_core(*chip, 2, spin);
  CHECK(chip->now_ps() < 3'200'000'000);
  const std::array<int, 1> one{1};
  CHECK(chip->run(one, spin).code() == absl::StatusCode::kDeadlineExceeded);
}

TEST_CASE("a chip may be destroyed while its programs wait") {
  int unwound = 0;
  struct Count {
    int& count;
    ~Count() { ++count; }
  };
  {
    const auto chip = make_chip();
    for (int core = 0; core < 5; ++core) {
      chip->start(core, [&](Core& self) {
        const Count counted{unwound};
        self.wait_value<std::uint32_t>(mpb_address(self.id(), 0), [](std::uint32_t v) { return v != 0; });
      });
    }
    chip->start(7, [&](Core&) { CHECK(false); });  // never begins
    chip->stop(7);
    chip->advance(1'000'000);
  }
  CHECK(unwound == 5);
}

// Regression: large frames stepped over a guard of one page, and no message was printed.
TEST_CASE("a stack that overflows ends the process with a sentence, whatever the size of its frames") {
  const bool wide = GENERATE(false, true);
  const Ended ended = wide ? in_child([] { overflow_core_13(dig_wide); }) : in_child([] { overflow_core_13(dig); });
  INFO(ended.text);
  CHECK(ended.text.find("the program on core 13 of the simulated chip overflowed its stack of 65536 bytes: raise "
                        "ChipOptions::stack_bytes") != std::string::npos);
  CHECK(WIFSIGNALED(ended.status));
}

TEST_CASE("an access to unmapped memory ends the process with a sentence") {
  const Ended ended = in_child([] {
    const auto chip = make_chip();
    const std::array<int, 1> cores{6};
    static_cast<void>(chip->run(cores, [](Core& core) { core.load<std::uint32_t>(0x60000010); }));
  });
  CHECK(ended.text.find("core 6: nothing is mapped at address 0x60000010") != std::string::npos);
}

TEST_CASE("a chip lives beside other threads, and each thread may have its own") {
  std::array<std::uint64_t, 3> hashes{};
  std::array<std::thread, 3> threads;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    threads[i] = std::thread([&hashes, i] {
      auto chip = Chip::create({});
      if (chip.ok() && (*chip)->run([](Core& core) { count_to(core, 20); }).ok()) hashes[i] = (*chip)->trace_hash();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(hashes[0] != 0);
  CHECK(hashes[0] == hashes[1]);
  CHECK(hashes[1] == hashes[2]);
}
