// The event loop: it polls, sleeps when there is no work, and loses no wake-up, whichever process dies. Compiled once
// for each waiter (waiter_under_test.h).
#include "transport/host/event_loop.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "core/check.h"
#include "core/planning/topology.h"
#include "core/prng.h"
#include "tests/seeds.h"
#include "tests/transport/host/child.h"
#include "tests/transport/host/waiter_under_test.h"
#include "transport/host/limits.h"

namespace ingot {
namespace {

// A pollable made of functions.
class Task final : public Pollable {
 public:
  std::function<int(std::uint64_t)> on_poll = [](std::uint64_t) { return 0; };
  std::function<bool()> ready = [] { return false; };
  std::uint64_t deadline = kNever;

  int poll(std::uint64_t now_ns) override { return on_poll(now_ns); }
  bool readable() override { return ready(); }
  std::uint64_t deadline_ns() const override { return deadline; }
};

struct Counted {
  Counter wakeups, sleeps, polls;
  LoopCounters all() { return {&wakeups, &sleeps, &polls}; }
};

std::unique_ptr<EventLoop> make_loop(WaitOptions wait, LoopCounters counters = {}) {
  auto loop = EventLoop::create(wait, counters, testing::waiter_under_test());
  REQUIRE(loop.ok());
  return *std::move(loop);
}

constexpr WaitOptions kSleepAtOnce{};

TEST_CASE("an idle loop sleeps: its rounds stop") {
  Counted counted;
  auto loop = make_loop(GENERATE(WaitOptions{}, WaitOptions::shared_core(), WaitOptions::own_core()), counted.all());
  Task nothing;
  loop->add(nothing);
  std::thread runner([&] { loop->run(); });
  while (counted.sleeps.get() == 0) std::this_thread::yield();
  const std::uint64_t rounds = counted.polls.get();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  CHECK(counted.polls.get() == rounds);
  CHECK(counted.sleeps.get() == 1);
  loop->stop();
  runner.join();
  CHECK(counted.polls.get() > 0);
}

TEST_CASE("a deadline ends the sleep, and not before it is due") {
  Counted counted;
  auto loop = make_loop(kSleepAtOnce, counted.all());
  Task timer;
  int fired = 0;
  timer.deadline = monotonic_ns() + 3'000'000;
  timer.on_poll = [&](std::uint64_t now_ns) {
    if (now_ns < timer.deadline) return 0;
    timer.deadline = now_ns + 3'000'000;
    // A deadline that passes before the loop sleeps, since the machine paused it, does not count here.
    if (++fired >= 5 && counted.sleeps.get() >= 5) loop->stop();
    return 1;
  };
  loop->add(timer);
  const std::uint64_t start_ns = monotonic_ns();
  loop->run();
  CHECK(fired >= 5);
  CHECK(monotonic_ns() - start_ns >= 15'000'000);
  CHECK(counted.sleeps.get() >= 5);
  CHECK(counted.wakeups.get() == 0);
}

TEST_CASE("a deadline in the past does not stop the loop from polling") {
  auto loop = make_loop(kSleepAtOnce);
  Task late;
  int polls = 0;
  late.deadline = 1;
  late.on_poll = [&](std::uint64_t) {
    if (++polls == 100) loop->stop();
    return 0;
  };
  loop->add(late);
  loop->run();
  CHECK(polls == 100);
}

TEST_CASE("descriptors are served by an idle and by a busy loop, and may unwatch themselves") {
  const bool busy = GENERATE(false, true);
  auto loop = make_loop(kSleepAtOnce);
  Task task;
  task.on_poll = [&](std::uint64_t) { return busy ? 1 : 0; };
  loop->add(task);
  int ends[2], other[2];
  REQUIRE(::pipe(ends) == 0);
  REQUIRE(::pipe(other) == 0);
  int characters = 0;
  bool ended = false;
  loop->watch(other[0], [&] { FAIL("unwatched, yet called"); });
  loop->watch(ends[0], [&] {
    char character;
    if (::read(ends[0], &character, 1) == 1) {
      ++characters;
      loop->unwatch(other[0]);
      REQUIRE(::write(other[1], "x", 1) == 1);
      return;
    }
    ended = true;
    loop->unwatch(ends[0]);
    loop->stop();
  });
  std::thread writer([&] {
    INGOT_CHECK(::write(ends[1], "ab", 2) == 2);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ::close(ends[1]);
  });
  loop->run();
  writer.join();
  CHECK(characters == 2);
  CHECK(ended);
  for (const int fd : {ends[0], other[0], other[1]}) ::close(fd);
}

TEST_CASE("each round ends with its flushes, in their order, after all pollables") {
  auto loop = make_loop(kSleepAtOnce);
  std::string order;
  Task one, other;
  one.on_poll = [&](std::uint64_t) {
    order += 'a';
    return 1;
  };
  other.on_poll = [&](std::uint64_t) {
    order += 'b';
    return 1;
  };
  loop->add(one);
  loop->add(other);
  loop->at_round_end([&] { order += '1'; });
  loop->at_round_end([&] {
    order += '2';
    if (order.size() >= 8) loop->stop();
  });
  loop->run();
  CHECK(order == "ab12ab12");
}

EventLoop* loop_of_handler = nullptr;

TEST_CASE("stop works before the run, from a thread, and from a signal handler") {
  Task nothing;
  auto early = make_loop(kSleepAtOnce);
  early->add(nothing);
  early->stop();
  early->run();

  auto loop = make_loop(kSleepAtOnce);
  loop->add(nothing);
  loop_of_handler = loop.get();
  ::signal(SIGUSR1, [](int) { loop_of_handler->stop(); });
  const pthread_t self = ::pthread_self();
  std::thread signaller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ::pthread_kill(self, SIGUSR1);
  });
  loop->run();
  signaller.join();
  ::signal(SIGUSR1, SIG_DFL);
  CHECK(loop->stopped());
}

TEST_CASE("messages that no poll can take do not keep the loop awake for ever") {
  Counted counted;
  auto loop = make_loop(kSleepAtOnce, counted.all());
  Task liar;
  liar.ready = [] { return true; };
  liar.on_poll = [&](std::uint64_t) {
    if (counted.sleeps.get() >= 3) loop->stop();
    return 0;
  };
  loop->add(liar);
  loop->run();
  CHECK(counted.sleeps.get() >= 3);
  CHECK(counted.polls.get() >= static_cast<std::uint64_t>(kSpuriousWakeupsMax));
}

// A counter that one side raises for the other: the smallest possible message.
struct PingPong {
  std::atomic<std::uint64_t> value[2];
};

// Runs one side until `rounds` were exchanged. Side 0 serves.
void play(Fabric& fabric, int side, std::uint64_t rounds, WaitOptions wait, LoopCounters counters = {}) {
  auto* game = reinterpret_cast<PingPong*>(fabric.inbox(EndpointId(0)).data());
  auto loop = EventLoop::create(wait, counters, testing::waiter_under_test());
  Task player;
  std::uint64_t done = 0;
  player.ready = [&] { return game->value[1 - side].load(std::memory_order_acquire) >= done + (side == 0 ? 0 : 1); };
  player.on_poll = [&](std::uint64_t) {
    if (!player.ready()) return 0;
    game->value[side].store(++done, std::memory_order_release);
    fabric.notify(EndpointId(static_cast<std::uint16_t>(1 - side)));
    if (done == rounds) (*loop)->stop();
    return 1;
  };
  (*loop)->add(player, fabric, EndpointId(static_cast<std::uint16_t>(side)));
  (*loop)->run();
}

TEST_CASE("no wake-up is lost between two processes, however little they stay awake") {
  const int yields = GENERATE(0, 1, 3);
  const WaitOptions wait{.spin_ns = 0, .yields = yields};
  auto fabric = Fabric::create("ingot-test-pingpong", 2, page_bytes());
  REQUIRE(fabric.ok());
  constexpr std::uint64_t kRounds = 20'000;
  Child other([&] {
    play(*fabric, 1, kRounds, wait);
    return 0;
  });
  Counted counted;
  play(*fabric, 0, kRounds, wait, counted.all());
  CHECK(other.wait() == 0);
  if (yields == 0) CHECK(counted.sleeps.get() > 0);
}

// Polls of one of two loops that are bound to the same core and would spin for long.
std::uint64_t polls_on_one_core(CoreId core, std::uint64_t rounds) {
  constexpr WaitOptions kSpinLong{.spin_ns = 1'000'000, .yields = 4};
  auto fabric = Fabric::create("ingot-test-one-core", 2, page_bytes());
  Child other([&] {
    if (!bind_this_thread({core}).ok()) return 1;
    play(*fabric, 1, rounds, kSpinLong);
    return 0;
  });
  Counted counted;
  std::thread([&] {
    INGOT_CHECK(bind_this_thread({core}).ok());
    play(*fabric, 0, rounds, kSpinLong, counted.all());
  }).join();
  CHECK(other.wait() == 0);
  return counted.polls.get();
}

// A loop that spun would poll for a millisecond before the other one could answer: thousands of polls a round. A loop
// that has noticed that it shares its core spins again only after a while, which is rare unless a busy machine
// stretches each round. So the least of some measurements counts.
TEST_CASE("loops that share a core notice it and stop spinning") {
  auto machine = this_machine();
  REQUIRE(machine.ok());
  constexpr std::uint64_t kRounds = 200;
  constexpr int kMeasurements = 20;
  std::uint64_t polls = ~std::uint64_t{0};
  for (int i = 0; i < kMeasurements && polls >= kRounds * 500; ++i)
    polls = polls_on_one_core(machine->cores[0].id, kRounds);
  CHECK(polls < kRounds * 500);
}

// Without that it would yield for a month.
TEST_CASE("a loop whose core goes to a thread that computes gives up yielding, and sleeps") {
  auto machine = this_machine();
  REQUIRE(machine.ok());
  const CoreId core = machine->cores[0].id;
  std::atomic<bool> over{false};
  std::thread computing([&] {
    INGOT_CHECK(bind_this_thread({core}).ok());
    while (!over) continue;
  });
  Counted counted;
  auto loop = make_loop({.spin_ns = 0, .yields = 1'000'000'000}, counted.all());
  Task nothing;
  loop->add(nothing);
  std::thread runner([&] {
    INGOT_CHECK(bind_this_thread({core}).ok());
    loop->run();
  });
  while (counted.sleeps.get() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  loop->stop();
  runner.join();
  over = true;
  computing.join();
  CHECK(counted.sleeps.get() > 0);
}

TEST_CASE("no wake-up is lost between threads") {
  auto fabric = Fabric::create("ingot-test-threads", 2, page_bytes());
  constexpr std::uint64_t kRounds = 20'000;
  std::thread other([&] { play(*fabric, 1, kRounds, kSleepAtOnce); });
  play(*fabric, 0, kRounds, kSleepAtOnce);
  other.join();
}

TEST_CASE("senders that die at any instant while they ring lose no wake-up") {
  const std::uint64_t seed = testing::drawn_seed();
  INFO("seed " << seed);
  Prng prng(seed);
  auto fabric = Fabric::create("ingot-test-dying", 2, page_bytes());
  constexpr std::uint64_t kRounds = 20'000;
  std::atomic<bool> done{false};
  std::thread player([&] { play(*fabric, 0, kRounds, kSleepAtOnce); });
  std::thread partner([&] {
    play(*fabric, 1, kRounds, kSleepAtOnce);
    done = true;
  });
  int killed = 0;
  do {
    Child ringer([&]() -> int {
      for (std::uint16_t i = 0;; ++i) fabric->notify(EndpointId(i % 2));
    });
    std::this_thread::sleep_for(std::chrono::microseconds(prng.below(2000)));
    ringer.kill();
    CHECK(ringer.wait() == -SIGKILL);
    ++killed;
  } while (!done);
  player.join();
  partner.join();
  CHECK(killed > 0);
}

}  // namespace
}  // namespace ingot
