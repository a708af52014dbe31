#include "tests/simulation/sweep.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

namespace ingot::simulation {

SweepResult sweep(const Options& options, std::uint64_t count, int jobs, std::size_t failures_max) {
  const auto begin = std::chrono::steady_clock::now();
  SweepResult sum;
  std::mutex mutex;                     // guards sum
  std::atomic<std::uint64_t> next{0};   // relaxed: no other data depends on it
  std::atomic<std::uint64_t> failed{0};  // likewise
  const auto work = [&] {
    Options own = options;
    SweepResult part;
    while (failed.load(std::memory_order_relaxed) < failures_max) {
      const std::uint64_t number = next.fetch_add(1, std::memory_order_relaxed);
      if (number >= count) break;
      own.seed = options.seed + number;
      Outcome outcome = run(own);
      ++part.seeds;
      part.tally.add(outcome.tally);
      if (outcome.violation.empty()) continue;
      failed.fetch_add(1, std::memory_order_relaxed);
      part.failures.push_back({own.seed, std::move(outcome.violation)});
    }
    const std::lock_guard lock(mutex);
    sum.seeds += part.seeds;
    sum.tally.add(part.tally);
    for (Failure& failure : part.failures) sum.failures.push_back(std::move(failure));
  };
  std::vector<std::thread> threads;
  for (int job = 1; job < jobs; ++job) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  std::sort(sum.failures.begin(), sum.failures.end(),
            [](const Failure& a, const Failure& b) { return a.seed < b.seed; });
  sum.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return sum;
}

}  // namespace ingot::simulation
