// Memory operations a second of the simulator on one core of this machine (by process time, which other programs
// disturb less). Each line is one kind of traffic; an operation is a load, store or copied half line of Core, as
// counted in Statistics::accesses. The last column: how many bare switches of fibres the machine makes in the time of
// one operation.
//
//   bazel run -c opt //tests/transport/scc:speed
#include <ctime>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "core/check.h"
#include "services/cli/cli.h"
#include "transport/scc/chip.h"
#include "transport/scc/fibre.h"

using namespace ingot::scc;

namespace {

double bare_rate = 0;  // of switches

double process_seconds() {
  std::timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void measure(const char* what, const Chip::Program& program) {
  std::array<double, 5> rates{};
  for (double& rate : rates) {
    auto chip = Chip::create({});
    INGOT_CHECK(chip.ok());
    const double from = process_seconds();
    INGOT_CHECK((*chip)->run(program).ok());
    rate = static_cast<double>((*chip)->statistics().accesses()) / (process_seconds() - from) * 1e-6;
  }
  std::sort(rates.begin(), rates.end());
  std::printf("%-58s %6.1f million a second (%.1f to %.1f), %.1f bare switches each\n", what, rates[2], rates.front(),
              rates.back(), bare_rate / rates[2]);
}

// The baseline: fibres in a ring that only resume the next one. Million switches a second.
double bare_switches(int fibres) {
  Fibre host;
  std::vector<std::unique_ptr<Fibre>> ring;
  for (int i = 0; i < fibres; ++i) ring.push_back(std::make_unique<Fibre>(std::size_t{256} * 1024, i));
  constexpr int kSwitches = 5'000'000;
  int left = kSwitches, ended = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    Fibre& self = *ring[i];
    Fibre& next = *ring[(i + 1) % ring.size()];
    self.start([&, fibres]() -> Fibre& {
      while (--left > 0) self.switch_to(next);
      return ++ended == fibres ? host : next;
    });
  }
  const double from = process_seconds();
  host.switch_to(*ring[0]);
  return kSwitches / (process_seconds() - from) * 1e-6;
}

void measure_switches() {
  std::array<double, 5> rates{};
  for (double& rate : rates) rate = bare_switches(kCores);
  std::sort(rates.begin(), rates.end());
  bare_rate = rates[2];
  std::printf("%-58s %6.1f million a second (%.1f to %.1f)\n", "48 fibres that only switch", bare_rate, rates.front(),
              rates.back());
}

absl::Status run() {
  constexpr int kLoads = 40'000;
  measure_switches();
  measure("48 cores load lines of all MPBs, all in step", [](Core& core) {
    for (int i = 0; i < kLoads; ++i) {
      core.invalidate_mpb();
      core.load<std::uint32_t>(mpb_line((core.id() * 7 + i) % kCores, static_cast<std::size_t>(i) % 200));
    }
  });
  measure("48 cores copy private memory into MPBs", [](Core& core) {
    for (std::size_t i = 0; i < 64; ++i) {
      core.copy(mpb_address((core.id() + static_cast<int>(i)) % kCores, 0), private_address(i * 8192), 8192);
    }
  });
  measure("48 cores copy MPBs into private memory", [](Core& core) {
    for (std::size_t i = 0; i < 64; ++i) {
      core.invalidate_mpb();
      core.copy(private_address(i * 8192), mpb_address((core.id() + static_cast<int>(i)) % kCores, 0), 8192);
    }
  });
  measure("one core copies, the others poll", [](Core& core) {
    if (core.id() != 0) {
      core.wait_value<std::uint32_t>(mpb_address(core.id(), 8160), [](std::uint32_t v) { return v != 0; });
      return;
    }
    for (std::size_t i = 0; i < 2000; ++i) {
      core.copy(mpb_address(static_cast<int>(i) % kCores, 0), private_address(i * 4096), 4096);
    }
    for (int to = 1; to < kCores; ++to) core.store<std::uint32_t>(mpb_address(to, 8160), 1);
    core.flush_wcb();
  });
  measure("48 cores load and store cached memory", [](Core& core) {
    for (std::size_t i = 0; i < kLoads; ++i) {
      const Address at = private_address(i % 4000 * 4);
      core.store(at, core.load<std::uint32_t>(at));
    }
  });
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Memory operations a second of the simulated SCC on one core of this machine.", "speed");
  app.footer(
      "A line for each kind of traffic: the median of five runs, the least and the most, by processor time; and how\n"
      "many bare switches of fibres this machine makes in the time of one operation. Some minutes.");
  return ingot::run_cli(app, argc, argv, run);
}
