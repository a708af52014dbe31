// The costs of the primitive operations, against the papers' figures (docs/scc.md has the table).
#include "tests/transport/scc/make_chip.h"

#include <array>
#include <cstdint>

using namespace ingot;
using namespace ingot::scc;
using namespace ingot::test;

namespace {

constexpr double kCoreNs = 1e3 / 533;
constexpr double kMeshNs = 1e3 / 800;
constexpr double kMemoryNs = 1e3 / 800;
constexpr double kWordNs = 22.2 / 8 * kCoreNs;  // the instruction that moves a word

double read_ns(Core& core, Address at) {
  core.invalidate_mpb();
  return nanoseconds(core, [&] { core.load<std::uint32_t>(at); }) - kWordNs;
}

}  // namespace

TEST_CASE("a line of an MPB costs 45 core and 8 mesh cycles a router, read or written") {
  const auto chip = make_chip();
  on_core(*chip, 0, [](Core& core) {
    for (int other = 0; other < kCores; ++other) {
      const double expected = 45 * kCoreNs + 8 * routers(0, tile_of(other)) * kMeshNs;
      CHECK(read_ns(core, mpb_address(other, 0)) == Approx(expected).margin(0.01));
      core.store<std::uint32_t>(mpb_address(other, 0), 1);
      CHECK(nanoseconds(core, [&] { core.flush_wcb(); }) == Approx(expected).margin(0.01));
    }
    CHECK(read_ns(core, mpb_address(1, 0)) == Approx(94.4).margin(0.1));
  });
}

TEST_CASE("a word of uncached DRAM costs 40 core, 8 mesh cycles a router and 46 memory cycles") {
  const auto chip = make_chip();
  on_core(*chip, 0, [](Core& core) {
    for (std::size_t controller = 0; controller < kControllers; ++controller) {
      const int distance = routers(0, controller_tile(static_cast<int>(controller)));
      const double expected = 40 * kCoreNs + 8 * distance * kMeshNs + 46 * kMemoryNs;
      CHECK(read_ns(core, shared_address(controller * kLutEntryBytes)) == Approx(expected).margin(0.01));
    }
    CHECK(read_ns(core, shared_address(0)) == Approx(142.5).margin(0.1));
  });
}

TEST_CASE("cached memory costs an L2 look-up and a line the first time, then nothing beside instructions") {
  const auto chip = make_chip();
  on_core(*chip, 0, [](Core& core) {
    const double miss = 18 * kCoreNs + 142.5;
    CHECK(read_ns(core, private_address(0)) == Approx(miss).margin(0.1));
    CHECK(read_ns(core, private_address(8)) == Approx(0).margin(0.01));
    // 16 KiB later the line is in L2 only.
    for (std::size_t i = 1; i <= 1024; ++i) core.load<std::uint32_t>(private_address(i * kLineBytes));
    CHECK(read_ns(core, private_address(0)) == Approx(18 * kCoreNs).margin(0.1));
    core.flush_caches();
    CHECK(read_ns(core, private_address(0)) == Approx(miss).margin(0.1));
  });
}

TEST_CASE("a copied line costs what the OC-Bcast paper measured") {
  const auto chip = make_chip();
  constexpr std::size_t kBytes = 4096, kLines = kBytes / kLineBytes;
  on_core(*chip, 0, [&](Core& core) {
    const auto per_line = [&](Address to, Address from) {
      core.invalidate_mpb();
      return nanoseconds(core, [&] { core.copy(to, from, kBytes); }) / kLines;
    };
    // Line to MPB: o_mpb + 2 d L_hop, of each side; d = 1 inside the own tile.
    CHECK(per_line(mpb_address(0, 0), mpb_address(0, kBytes)) == Approx(2 * (126 + 10)).epsilon(0.01));
    CHECK(per_line(mpb_address(47, 0), mpb_address(0, 0)) == Approx(126 + 90 + 126 + 10).epsilon(0.01));
    // o_mem_r + 2 d L_hop: fresh lines of private memory.
    CHECK(per_line(mpb_address(0, 0), private_address(1 << 20)) == Approx(208 + 10 + 126 + 10).epsilon(0.01));
    // o_mem_w: once the caches are full of dirty lines. The simulator pays the mesh twice, for the line and for its
    // victim.
    for (std::size_t at = 0; at < 512 * 1024; at += kBytes) {
      core.copy(private_address((2 << 20) + at), mpb_address(0, 0), kBytes);
    }
    CHECK(per_line(private_address(8 << 20), mpb_address(0, 0)) == Approx(461 + 2 * 10 + 126 + 10).epsilon(0.01));
  });
}

TEST_CASE("point to point, an MPB is read into memory at the papers' 55 MB/s") {
  const auto chip = make_chip();
  on_core(*chip, 0, [&](Core& core) {
    constexpr std::size_t kTotal = 1 << 20, kChunk = 4096;
    const auto pass = [&] {
      for (std::size_t at = 0; at < kTotal; at += kChunk) {
        core.invalidate_mpb();
        core.copy(private_address(at), mpb_address(1, 0), kChunk);
      }
    };
    pass();
    const double mb_per_s = kTotal / nanoseconds(core, pass) * 1e3;
    CHECK(mb_per_s == Approx(55).epsilon(0.08));
  });
}

TEST_CASE("the WGR model charges its own table, in its clock setting") {
  ChipOptions options{.clocks = {800, 1600, 800}, .cost_model = CostModel::kWgr};
  const auto chip = make_chip(options);
  const auto cycles = [](Core& core, const std::function<void()>& what) { return nanoseconds(core, what) * 0.8; };
  on_core(*chip, 0, [&](Core& core) {
    const double word = 22.2 / 8;
    const auto read = [&](Address at) {
      core.charge(1'000'000);
      core.invalidate_mpb();
      return cycles(core, [&] { core.load<std::uint32_t>(at); }) - word;
    };
    CHECK(read(mpb_address(2, 0)) == Approx(64).margin(1));   // one hop: r of 60..90 over the mesh
    CHECK(read(mpb_address(47, 0)) == Approx(90).margin(2.5));
    CHECK(read(mpb_address(1, 0)) == Approx(21).margin(0.1));
    // A posted write costs its issue; the next access waits for the gap.
    core.charge(1'000'000);
    core.store<std::uint32_t>(mpb_address(47, 0), 1);
    const Picoseconds from = core.now_ps();
    CHECK(cycles(core, [&] { core.flush_wcb(); }) == Approx(25).margin(0.1));
    core.invalidate_mpb();
    core.load<std::uint32_t>(mpb_address(1, 0));
    const double until = static_cast<double>(core.now_ps() - from) * 0.8e-3 - word - 21;
    CHECK(until == Approx(108).margin(2.5));
  });
}

TEST_CASE("requests that meet at a port are served one after the other") {
  const auto chip = make_chip();
  // Both cores of tile 5 read a line of tile 20 at once, again and again.
  const std::array<int, 2> two{10, 11};
  std::array<double, kCores> took{};
  on_cores(*chip, two, [&](Core& core) { took[core.id()] = read_ns(core, mpb_address(40, 0)); });
  const double alone = 45 * kCoreNs + 8 * routers(5, 20) * kMeshNs;
  const double sum = took[10] + took[11];
  CHECK(sum == Approx(2 * alone + 10).margin(0.1));  // one of them waits for the other's 8 mesh cycles
  CHECK(chip->statistics().mpb_ports[20].queued_ps == 10'000);
}

TEST_CASE("clocks scale what runs at them") {
  const auto read_at = [](const Clocks& clocks, Address at) {
    const auto chip = make_chip({.clocks = clocks});
    double ns = 0;
    on_core(*chip, 0, [&](Core& core) { ns = nanoseconds(core, [&] { core.load<std::uint32_t>(at); }); });
    return ns;
  };
  const double base = read_at({533, 800, 800}, mpb_address(47, 0));
  CHECK(read_at({533, 1600, 800}, mpb_address(47, 0)) == Approx(base - 36 * kMeshNs).margin(0.1));
  CHECK(read_at({800, 800, 800}, mpb_address(47, 0)) ==
        Approx(base - (45 + 22.2 / 8) * (kCoreNs - 1.25)).margin(0.1));
  CHECK(read_at({533, 800, 1066}, mpb_address(47, 0)) == Approx(base).margin(0.01));
}
