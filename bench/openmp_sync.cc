// The overhead of OpenMP's constructs: each is run around a short delay, and the time of the delay alone is subtracted,
// after the idea of the EPCC synchronization benchmark. One JSON object a line on standard output.
//
// bench/openmp_sync.py runs it with and without libingot_openmp.so, in turns.
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "services/cli/cli.h"

namespace {

struct Flags {
  int threads = 2;
  int samples = 40;
  int sample_us = 400;  // about how long one sample takes
  int delay_ns = 100;
  std::vector<std::string> constructs;
};

double now_ns() {
  return static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count());
}

// The work: a loop of additions that the compiler cannot remove.
[[gnu::noinline]] void delay(int steps) {
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    sum += i;
    asm volatile("" : "+x"(sum));
  }
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

int calibrate(int delay_ns) {
  constexpr int kSteps = 100'000;
  std::vector<double> per_step;
  for (int i = 0; i < 11; ++i) {
    const double start = now_ns();
    delay(kSteps);
    per_step.push_back((now_ns() - start) / kSteps);
  }
  return std::max(1, static_cast<int>(delay_ns / median(per_step)));
}

// ---- Constructs. Each function runs `times` of them in a team of `n` threads, every thread with one delay in each.
// ----

using Run = void (*)(int n, int times, int steps);

void run_reference(int, int times, int steps) {
  for (int i = 0; i < times; ++i) delay(steps);
}
void run_parallel(int n, int times, int steps) {
  for (int i = 0; i < times; ++i) {
#pragma omp parallel num_threads(n)
    delay(steps);
  }
}
void run_parallel_for(int n, int times, int steps) {
  for (int i = 0; i < times; ++i) {
#pragma omp parallel for num_threads(n)
    for (int j = 0; j < n; ++j) delay(steps);
  }
}
void run_barrier(int n, int times, int steps) {
#pragma omp parallel num_threads(n)
  for (int i = 0; i < times; ++i) {
    delay(steps);
#pragma omp barrier
  }
}
void run_for(int n, int times, int steps) {
#pragma omp parallel num_threads(n)
  for (int i = 0; i < times; ++i) {
#pragma omp for
    for (int j = 0; j < n; ++j) delay(steps);
  }
}
void run_for_dynamic(int n, int times, int steps) {
#pragma omp parallel num_threads(n)
  for (int i = 0; i < times; ++i) {
#pragma omp for schedule(dynamic)
    for (int j = 0; j < n; ++j) delay(steps);
  }
}
void run_sections(int n, int times, int steps) {
#pragma omp parallel num_threads(n)
  for (int i = 0; i < times; ++i) {
#pragma omp sections
    {
#pragma omp section
      delay(steps);
#pragma omp section
      delay(steps);
    }
  }
}
void run_single(int n, int times, int steps) {
#pragma omp parallel num_threads(n)
  for (int i = 0; i < times; ++i) {
#pragma omp single
    delay(steps);
  }
}
void run_copyprivate(int n, int times, int steps) {
  int value = 0;
#pragma omp parallel num_threads(n) firstprivate(value)
  for (int i = 0; i < times; ++i) {
#pragma omp single copyprivate(value)
    {
      delay(steps);
      value = i;
    }
    asm volatile("" : : "r"(value));
  }
}
void run_reduction(int n, int times, int steps) {
  for (int i = 0; i < times; ++i) {
    int sum = 0;
#pragma omp parallel num_threads(n) reduction(+ : sum)
    {
      delay(steps);
      sum += 1;
    }
  }
}
void run_for_reduction(int n, int times, int steps) {
  int sum = 0;
#pragma omp parallel num_threads(n)
  for (int i = 0; i < times; ++i) {
#pragma omp for reduction(+ : sum)
    for (int j = 0; j < n; ++j) {
      delay(steps);
      sum += 1;
    }
  }
}
// `times` critical sections in all, one after the other.
void run_critical(int n, int times, int steps) {
#pragma omp parallel num_threads(n)
  for (int i = omp_get_thread_num(); i < times; i += n) {
#pragma omp critical
    delay(steps);
  }
}
void run_ordered(int n, int times, int steps) {
#pragma omp parallel for ordered schedule(static, 1) num_threads(n)
  for (int i = 0; i < times; ++i) {
#pragma omp ordered
    delay(steps);
  }
}
// One task for each thread, all done at a barrier.
void run_task(int n, int times, int steps) {
#pragma omp parallel num_threads(n)
  for (int i = 0; i < times; ++i) {
#pragma omp task
    delay(steps);
#pragma omp barrier
  }
}

struct Construct {
  const char* name;
  Run run;
};
constexpr Construct kConstructs[] = {
    {"barrier", run_barrier},         {"for", run_for},           {"for_dynamic", run_for_dynamic},
    {"sections", run_sections},       {"single", run_single},     {"copyprivate", run_copyprivate},
    {"for_reduction", run_for_reduction},
    {"parallel", run_parallel},       {"parallel_for", run_parallel_for}, {"reduction", run_reduction},
    {"critical", run_critical},       {"ordered", run_ordered},   {"task", run_task},
};

double time_ns(Run run, int n, int times, int steps) {
  const double start = now_ns();
  run(n, times, steps);
  return now_ns() - start;
}

void measure(const Construct& construct, const Flags& flags, int steps) {
  int times = 8;  // until a sample is long enough; also warms up
  for (double took = 0; took < 1e3 * flags.sample_us && times < (1 << 20); times *= 2) {
    took = time_ns(construct.run, flags.threads, times, steps);
  }
  times = std::max(8, times / 2);
  std::vector<double> overheads;
  for (int i = 0; i < flags.samples; ++i) {
    const double reference = time_ns(run_reference, 1, times, steps);
    overheads.push_back((time_ns(construct.run, flags.threads, times, steps) - reference) / times);
  }
  std::sort(overheads.begin(), overheads.end());
  const auto at = [&](double share) {
    return std::round(overheads[static_cast<std::size_t>(share * static_cast<double>(overheads.size() - 1))] * 10) / 10;
  };
  const nlohmann::ordered_json object = {
      {"benchmark", "openmp_sync"},   {"construct", construct.name}, {"threads", flags.threads},
      {"delay_ns", flags.delay_ns},   {"samples", flags.samples},    {"constructs_per_sample", times},
      {"overhead_ns_median", at(0.5)}, {"overhead_ns_p10", at(0.1)}, {"overhead_ns_p90", at(0.9)}};
  std::cout << object.dump() << std::endl;
}

bool known(const std::string& name) {
  return std::any_of(std::begin(kConstructs), std::end(kConstructs),
                     [&](const Construct& c) { return name == c.name; });
}

absl::Status run(const Flags& flags) {
  for (const std::string& name : flags.constructs) {
    if (known(name)) continue;
    std::vector<std::string> names;
    for (const Construct& c : kConstructs) names.emplace_back(c.name);
    return absl::InvalidArgumentError("there is no construct \"" + name + "\"; choose " + ingot::join_or(names));
  }
  omp_set_dynamic(0);
  const int steps = calibrate(flags.delay_ns);
  for (const Construct& construct : kConstructs) {
    const auto& chosen = flags.constructs;
    if (chosen.empty() || std::find(chosen.begin(), chosen.end(), construct.name) != chosen.end()) {
      measure(construct, flags, steps);
    }
  }
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("What OpenMP's synchronization costs, by construct; nanoseconds each.", "openmp_sync");
  Flags flags;
  app.add_option("--threads", flags.threads, "of each team")->check(ingot::whole_number(1, 256))->capture_default_str();
  app.add_option("--samples", flags.samples, "of each construct")
      ->check(ingot::whole_number(1, 100'000))->capture_default_str();
  app.add_option("--sample-us", flags.sample_us, "how long a sample is, about")
      ->check(ingot::whole_number(1, 10'000'000))->capture_default_str();
  app.add_option("--delay-ns", flags.delay_ns, "of work in each construct")
      ->check(ingot::whole_number(1, 1'000'000))->capture_default_str();
  app.add_option("--constructs", flags.constructs, "only these, such as barrier,single")->delimiter(',');
  return ingot::run_cli(app, argc, argv, [&] { return run(flags); });
}
