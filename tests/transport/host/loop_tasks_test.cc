// Tasks of other threads on an event loop.
#include "transport/host/loop_tasks.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

namespace ingot {
namespace {

TEST_CASE("tasks of all threads run on the loop, each once, those of a thread in order") {
  constexpr int kThreads = 4, kEach = 2'000;
  const auto loop = *EventLoop::create(WaitOptions::shared_core());
  const auto tasks = *LoopTasks::create();
  tasks->attach(*loop);
  std::vector<int> last(kThreads, -1);  // the loop's thread only
  int wrong = 0;
  std::atomic<int> ran{0};
  std::thread runner([&] { loop->run(); });
  const auto runner_id = runner.get_id();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kEach; ++i) {
        tasks->post([&, thread, i] {
          wrong += std::this_thread::get_id() != runner_id || last[static_cast<std::size_t>(thread)] != i - 1;
          last[static_cast<std::size_t>(thread)] = i;
          ++ran;
        });
        if (i % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the loop sleeps meanwhile
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  while (ran < kThreads * kEach) std::this_thread::yield();
  loop->stop();
  runner.join();
  CHECK(wrong == 0);
}

TEST_CASE("a task may post another, which runs in a later round, and stop the loop") {
  const auto loop = *EventLoop::create(WaitOptions::shared_core());
  const auto tasks = *LoopTasks::create();
  tasks->attach(*loop);
  int ran = 0;
  tasks->post([&] {
    ++ran;
    tasks->post([&] {
      ++ran;
      loop->stop();
    });
    CHECK(ran == 1);
  });
  loop->run();
  CHECK(ran == 2);
  CHECK_FALSE(tasks->readable());
}

TEST_CASE("after the loop's end a thread may wait for tasks and run them itself") {
  const auto tasks = *LoopTasks::create();
  int ran = 0;
  std::thread other([&] { tasks->post([&] { ++ran; }); });
  tasks->wait();
  CHECK(tasks->poll(0) == 1);
  other.join();
  CHECK(ran == 1);
  CHECK(tasks->poll(0) == 0);
}

}  // namespace
}  // namespace ingot
