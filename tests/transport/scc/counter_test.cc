// The FPGA's counters: what a draw costs, that accesses are served in turn, and what follows for SRBP beside NVP
// (docs/design/scc-simulator.md#the-fpga-serves-one-access-at-a-time).
#include "tests/transport/scc/make_chip.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "bench/scc/links.h"

using namespace ingot;
using namespace ingot::scc;
using namespace ingot::test;

namespace {

constexpr double kCoreNs = 1e3 / 533, kMeshNs = 1e3 / 800;

std::vector<int> first_cores(int count) {
  std::vector<int> cores(static_cast<std::size_t>(count));
  std::iota(cores.begin(), cores.end(), 0);
  return cores;
}

ChipOptions fpga(double one_way_ns, double service_ns) {
  ChipOptions options;
  REQUIRE(set_constant(options, "fpga_one_way_ns", one_way_ns).ok());
  REQUIRE(set_constant(options, "fpga_service_ns", service_ns).ok());
  return options;
}

// Counters drawn in a microsecond by so many cores that do nothing else, each from a counter of its own.
double draws_per_us(int cores, const ChipOptions& options = {}) {
  const auto chip = make_chip(options);
  constexpr int kDraws = 200;
  on_cores(*chip, first_cores(cores), [](Core& core) {
    for (std::uint32_t i = 0; i < kDraws; ++i) CHECK(core.fetch_increment(core.id()) == i);
  });
  return cores * kDraws / (static_cast<double>(chip->now_ps()) * 1e-6);
}

double round_trip(const std::string& protocol, int to, const ChipOptions& options = {}) {
  const auto cycles = measure_round_trip(options, protocol, {.to = to});
  REQUIRE(cycles.ok());
  return *cycles;
}

double barrier(const std::string& protocol, int cores, const ChipOptions& options = {}) {
  const auto cycles = measure_collective(options, protocol, cores, CollectiveOperation::kBarrier, 3);
  REQUIRE(cycles.ok());
  return *cycles;
}

}  // namespace

TEST_CASE("a draw costs a word over the mesh and the way to the FPGA and back") {
  const auto chip = make_chip();
  for (const int core : {0, 6, 47}) {
    on_core(*chip, core, [&](Core& self) {
      const double ns = nanoseconds(self, [&] { self.fetch_increment(3); });
      CHECK(ns == Approx(45 * kCoreNs + 8 * routers(tile_of(core), kFpgaTile) * kMeshNs + 2 * 100).margin(0.01));
    });
  }
  CHECK(chip->statistics().fpga_port.lines == 3);
  CHECK(chip->statistics().fpga_port.queued_ps == 0);
}

TEST_CASE("draws, writes of counters and interrupt requests that meet at the FPGA are served in turn") {
  const auto chip = make_chip();
  const std::array<int, 4> same_tile_or_distance{4, 5, 8, 9};  // tiles (2,0) and (4,0)
  std::array<double, kCores> took{};
  on_cores(*chip, same_tile_or_distance, [&](Core& core) {
    took[core.id()] = nanoseconds(core, [&] {
      if (core.id() == 4) core.write_counter(1, 7);
      if (core.id() == 5) core.interrupt(1);
      if (core.id() >= 8) core.fetch_increment(2);
    });
  });
  std::array<double, 4> sorted{took[4], took[5], took[8], took[9]};
  std::sort(sorted.begin(), sorted.end());
  const double alone = 45 * kCoreNs + 2 * 8 * kMeshNs + 200;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    CHECK(sorted[i] == Approx(alone + 100 * static_cast<double>(i)).margin(0.01));
  }
  CHECK(chip->statistics().fpga_port.queued_ps == (100 + 200 + 300) * 1000);
}

TEST_CASE("the FPGA gives ten numbers a microsecond, from four cores on") {
  CHECK(draws_per_us(1) == Approx(3.08).epsilon(0.01));
  CHECK(draws_per_us(3) == Approx(9.22).epsilon(0.02));
  for (const int cores : {4, 12, 48}) CHECK(draws_per_us(cores) == Approx(10).epsilon(0.01));
  CHECK(draws_per_us(48, fpga(100, 0)) > 130);  // without a queue there is no bound
}

TEST_CASE("SRBP as published: shorter round trips than NVP's, and longer collectives, by the counters' congestion") {
  for (const int to : {1, 8, 47}) {
    const double nvp = round_trip("nvp", to), srbp = round_trip("srbp-plain", to);
    CHECK(srbp < nvp);
    CHECK(nvp < 2000);
  }
  const double nvp = barrier("nvp", 48);
  CHECK(barrier("srbp-plain", 48, fpga(100, 0)) < nvp);  // no longer, if nothing queued
  CHECK(barrier("srbp-plain", 48) > 1.3 * nvp);
  CHECK(barrier("srbp", 48) > 1.4 * nvp);
}

// What remains unexplained: the papers have SRBP more than 200 cycles ahead.
TEST_CASE("no way to the FPGA, however short, puts SRBP with Ingot's precautions 200 cycles ahead of NVP") {
  for (const int to : {1, 8, 47}) {
    const double nvp = round_trip("nvp", to);
    CHECK(round_trip("srbp", to, fpga(0, 0)) > nvp - 110);
    CHECK(round_trip("srbp-plain", to, fpga(0, 0)) < nvp - 200);
    CHECK(round_trip("srbp-plain", to, fpga(100, 100)) > nvp - 100);
    CHECK(round_trip("srbp", to, fpga(300, 0)) > nvp + 550);  // as was assumed before
  }
}

TEST_CASE("collectives stop growing logarithmically when the FPGA serves slower than five draws a microsecond") {
  const auto growth = [](double service_ns) {
    const ChipOptions options = fpga(100, service_ns);
    return barrier("srbp-plain", 48, options) / barrier("srbp-plain", 8, options);
  };
  // By levels of the tree it would be 2 (six levels to three); by cores 6.
  CHECK(growth(0) < 2.1);
  CHECK(growth(100) < 3);
  CHECK(growth(200) > 4);
  CHECK(growth(400) > 5.5);
}
