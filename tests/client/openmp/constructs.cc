// An OpenMP program that uses every construct that contains a barrier, checks what each guarantees, and prints sums
// that are the same with any correct OpenMP. Run with and without the preloaded library, with any number of threads.
#include <omp.h>
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "services/cli/cli.h"

namespace {

int threads = 2;
int rounds = 50;

void check(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::abort();
}

// Makes some thread late, now and then for so long that the others sleep.
void dawdle(int round, int thread) {
  if ((round * 7 + thread) % 5 == 0) ::sched_yield();
  if ((round * 131 + thread * 17) % 97 == 0) {
    for (int i = 0; i < 20'000; ++i) asm volatile("");
  }
}

// Writes before an explicit barrier are visible to all threads after it.
std::uint64_t explicit_barriers(int team) {
  std::vector<std::uint64_t> cells[2];
  cells[0].resize(static_cast<std::size_t>(team));
  cells[1].resize(static_cast<std::size_t>(team));
  std::uint64_t total = 0;
#pragma omp parallel num_threads(team) reduction(+ : total)
  {
    const int me = omp_get_thread_num();
    const auto n = static_cast<std::size_t>(omp_get_num_threads());
    for (int round = 1; round <= rounds; ++round) {
      dawdle(round, me);
      auto& now = cells[round % 2];
      now[static_cast<std::size_t>(me)] = static_cast<std::uint64_t>(round);
#pragma omp barrier
      for (std::size_t i = 0; i < n; ++i) check(now[i] == static_cast<std::uint64_t>(round), "barrier");
      total += static_cast<std::uint64_t>(round * (me + 1));
    }
  }
  return total;
}

// Loops with every schedule; each reads values that the one before wrote in other threads.
std::uint64_t loops(int team) {
  constexpr int kCount = 64;
  std::vector<std::uint64_t> a(kCount, 1), b(kCount, 0);
#pragma omp parallel num_threads(team)
  for (int round = 0; round < rounds; ++round) {
#pragma omp for schedule(static)
    for (int i = 0; i < kCount; ++i) b[i] = a[kCount - 1 - i] + 1;
#pragma omp for schedule(dynamic, 3)
    for (int i = 0; i < kCount; ++i) a[i] = b[(i * 5) % kCount] * 3 % 1'000'003;
#pragma omp for schedule(guided)
    for (int i = 0; i < kCount; ++i) b[i] = a[(i + 11) % kCount] + static_cast<std::uint64_t>(i);
#pragma omp for schedule(runtime)
    for (int i = 0; i < kCount; ++i) a[i] = b[kCount - 1 - i];
#pragma omp for ordered schedule(dynamic)
    for (int i = 0; i < kCount; ++i) {
#pragma omp ordered
      b[i] = a[i] + (i > 0 ? b[i - 1] % 7 : 0);
    }
#pragma omp for schedule(static, 2) nowait
    for (int i = 0; i < kCount; ++i) a[i] = b[i];
#pragma omp barrier
  }
  std::uint64_t sum = 0;
#pragma omp parallel for num_threads(team) schedule(dynamic) reduction(+ : sum)
  for (int i = 0; i < kCount; ++i) sum += a[i] * static_cast<std::uint64_t>(i + 1);
  return sum;
}

std::uint64_t singles_and_sections(int team) {
  std::uint64_t sum = 0;
  int value = 0;
  std::uint64_t parts[3] = {};
#pragma omp parallel num_threads(team) firstprivate(value)
  for (int round = 1; round <= rounds; ++round) {
    dawdle(round, omp_get_thread_num());
#pragma omp single
    sum += static_cast<std::uint64_t>(round);
    check(sum >= static_cast<std::uint64_t>(round), "single");
    value = -omp_get_thread_num();
#pragma omp single copyprivate(value)
    value = round * 3;
    check(value == round * 3, "copyprivate");
#pragma omp sections
    {
#pragma omp section
      parts[0] += static_cast<std::uint64_t>(round);
#pragma omp section
      parts[1] += 2 * static_cast<std::uint64_t>(round);
#pragma omp section
      parts[2] += 3 * static_cast<std::uint64_t>(round);
    }
    const auto due = static_cast<std::uint64_t>(round) * static_cast<std::uint64_t>(round + 1) / 2;
    check(parts[0] == due && parts[1] == 2 * due && parts[2] == 3 * due, "sections");
#pragma omp barrier
  }
  return sum + parts[0] + parts[1] + parts[2];
}

// A barrier completes all tasks of the team, including tasks created by tasks.
std::uint64_t tasks(int team) {
  std::atomic<std::uint64_t> done{0};
  std::uint64_t sum = 0;
#pragma omp parallel num_threads(team)
  for (int round = 1; round <= rounds; ++round) {
    const auto n = static_cast<std::uint64_t>(omp_get_num_threads());
    dawdle(round, omp_get_thread_num());
#pragma omp task shared(done)
    {
      done.fetch_add(1);
#pragma omp task shared(done)
      done.fetch_add(1);
    }
#pragma omp barrier
    check(done.load() >= 2 * n, "tasks are done behind the barrier");
#pragma omp barrier
#pragma omp single
    {
      sum += done.exchange(0) / n;
#pragma omp taskloop shared(done) grainsize(1)
      for (int i = 0; i < 8; ++i) done.fetch_add(1);
      for (int i = 0; i < 20; ++i) {
#pragma omp task shared(done)
        done.fetch_add(1);
      }
    }
    check(done.load() == 28, "tasks of a single are done behind it");
#pragma omp barrier
#pragma omp master
    done.store(0);
#pragma omp barrier
  }
  return sum;
}

// While one thread is still creating tasks, the threads that wait at the barrier run them.
void waiters_run_tasks(int team) {
  if (team < 2) return;
  std::atomic<bool> ran{false};
#pragma omp parallel num_threads(team)
  {
#pragma omp single
    if (omp_get_num_threads() > 1) {
      const int creator = omp_get_thread_num();
      // Only another thread can run the task before its creator reaches a point where it may run tasks itself.
      while (!ran.load()) {
#pragma omp task shared(ran) firstprivate(creator)
        if (omp_get_thread_num() != creator) ran.store(true);
        std::this_thread::yield();
      }
    }
  }
}

// Teams that grow and shrink, down to one thread, and nested ones of which several run at once.
std::uint64_t teams_of_all_sizes(int team) {
  std::atomic<std::uint64_t> sum{0};
  for (int round = 0; round < rounds / 4 + 2; ++round) {
    const int size = 1 + (round * 3) % team;
#pragma omp parallel num_threads(size)
    {
      for (int i = 0; i < 3; ++i) {
        sum.fetch_add(1);
#pragma omp barrier
      }
      std::uint64_t inner_cells[4] = {};
#pragma omp parallel num_threads(1 + round % 3) shared(inner_cells)
      {
        const int me = omp_get_thread_num();
        for (std::uint64_t i = 1; i <= 5; ++i) {
          inner_cells[me] = i;
#pragma omp barrier
          for (int other = 0; other < omp_get_num_threads(); ++other) check(inner_cells[other] == i, "nested barrier");
#pragma omp barrier
        }
        sum.fetch_add(10);
      }
#pragma omp barrier
      sum.fetch_add(100);
    }
    sum.fetch_sub(static_cast<std::uint64_t>(size) * (103 + 10 * static_cast<std::uint64_t>(1 + round % 3)));
  }
  return sum.load();
}

void orphan() {
#pragma omp barrier
}

// Barriers outside of any region, and in a region whose team is the calling thread alone.
void orphaned_barriers() {
  orphan();
#pragma omp parallel num_threads(1)
  orphan();
#pragma omp parallel num_threads(2) if (0)
  orphan();
#pragma omp parallel num_threads(2)
  orphan();
}

// Several threads of the program, each the master of its own teams.
std::uint64_t many_masters(int team) {
  std::atomic<std::uint64_t> sum{0};
  std::vector<std::thread> masters;
  for (int master = 0; master < 3; ++master) {
    masters.emplace_back([&sum, team] {
      for (int round = 0; round < rounds / 8 + 1; ++round) {
        std::uint64_t part = 0;
#pragma omp parallel num_threads(team) reduction(+ : part)
        {
          part += 1;
#pragma omp barrier
          part += 1;
        }
        sum.fetch_add(part / 2 / static_cast<std::uint64_t>(team));
      }
    });
  }
  for (std::thread& each : masters) each.join();
  return sum.load();
}

// With OMP_CANCELLATION=true the loop ends early, without it does not. In both cases the team goes on.
void cancelled_loops(int team) {
  std::atomic<int> entered{0};
  int after = 0;
#pragma omp parallel num_threads(team)
  {
    for (int round = 0; round < 5; ++round) {
#pragma omp for
      for (int i = 0; i < 1000; ++i) {
        entered.fetch_add(1);
#pragma omp cancel for if (i % 50 == 7)
      }
    }
#pragma omp barrier
#pragma omp critical
    after += 1;
#pragma omp barrier
    check(after == omp_get_num_threads(), "critical behind a cancelled loop");
  }
#pragma omp parallel num_threads(team)
  {
#pragma omp barrier
#pragma omp cancel parallel if (omp_get_thread_num() == 0)
    while (omp_get_cancellation()) {
#pragma omp cancellation point parallel
      ::sched_yield();
    }
  }
}

void target_regions(int team) {
  int sum = 0;
#pragma omp parallel num_threads(team) reduction(+ : sum)
  {
    int mine = 0;
#pragma omp target map(tofrom : mine)
    {
      orphan();
      mine = 1;
    }
    sum += mine;
#pragma omp barrier
  }
  check(sum >= 1, "target");
}

absl::Status run() {
  omp_set_max_active_levels(2);
  omp_set_dynamic(0);
  const auto count = static_cast<unsigned long long>(threads);
  std::printf("explicit %llu\n", static_cast<unsigned long long>(explicit_barriers(threads)) / count);
  std::printf("loops %llu\n", static_cast<unsigned long long>(loops(threads)));
  std::printf("singles %llu\n", static_cast<unsigned long long>(singles_and_sections(threads)));
  std::printf("tasks %llu\n", static_cast<unsigned long long>(tasks(threads)));
  waiters_run_tasks(threads);
  std::printf("sizes %llu\n", static_cast<unsigned long long>(teams_of_all_sizes(threads)));
  orphaned_barriers();
  std::printf("masters %llu\n", static_cast<unsigned long long>(many_masters(threads)));
  cancelled_loops(threads);
  target_regions(threads);
  std::printf("explicit again %llu\n", static_cast<unsigned long long>(explicit_barriers(threads)) / count);
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Uses every OpenMP construct that contains a barrier, and prints sums that any correct OpenMP prints.");
  const CLI::Validator one_or_more = ingot::whole_number(1, 1 << 20);
  app.add_option("THREADS", threads, "in the largest team")->required()->check(one_or_more)->type_name("");
  app.add_option("ROUNDS", rounds, "of each construct")->required()->check(one_or_more)->type_name("");
  app.footer("Example: LD_PRELOAD=bazel-bin/client/openmp/libingot_openmp.so constructs 4 50");
  return ingot::run_cli(app, argc, argv, run);
}
