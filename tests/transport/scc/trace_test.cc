// A run seen from outside: the trace file, the counters, the links, the energy account.
#include "tests/transport/scc/make_chip.h"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "core/planning/json.h"

using namespace ingot;
using namespace ingot::scc;
using namespace ingot::test;

namespace {

constexpr std::array<int, 2> kTwo{0, 47};

std::string temporary_path() {
  const char* folder = std::getenv("TEST_TMPDIR");
  return std::string(folder == nullptr ? "/tmp" : folder) + "/trace-" + std::to_string(::getpid()) + ".json";
}

// Core 0 writes ten lines into the MPB of core 47.
void write_ten(Core& core) {
  if (core.id() != 0) return core.compute(10'000);
  core.trace_begin("ten lines");
  core.copy(mpb_address(47, 0), private_address(0), 10 * kLineBytes);
  core.trace_end();
}

nlohmann::json read_json(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  auto json = parse_json(text.str());
  REQUIRE(json.ok());
  ::unlink(path.c_str());
  return *std::move(json);
}

}  // namespace

TEST_CASE("a trace is JSON in the trace-event format, with one span an access") {
  ChipOptions options;
  options.trace_path = temporary_path();
  {
    const auto chip = make_chip(options);
    on_cores(*chip, kTwo, write_ten);
    CHECK(chip->finish_trace().ok());
  }
  const auto json = read_json(options.trace_path);
  std::map<std::string, int> names;
  double last_end = 0;
  for (const auto& event : json["traceEvents"]) {
    const std::string phase = event["ph"];
    names[phase + (event.contains("name") ? " " + event["name"].get<std::string>() : "")]++;
    if (phase != "X") continue;
    CHECK(event["tid"] == 0);
    CHECK(event["dur"] > 0);
    CHECK(event["ts"] >= last_end);
    last_end = event["ts"].get<double>() + event["dur"].get<double>() - 1e-9;
  }
  CHECK(names == std::map<std::string, int>{{"M thread_name", kCores}, {"B ten lines", 1}, {"E", 1},
                                            {"X write MPB", 10}, {"X read memory", 10}});
  CHECK(json["otherData"]["events_dropped"] == 0);
}

TEST_CASE("a trace that is too long counts what it leaves out") {
  ChipOptions options;
  options.trace_path = temporary_path();
  options.trace_events_max = 5;
  const auto chip = make_chip(options);
  on_cores(*chip, kTwo, write_ten);
  CHECK(chip->finish_trace().ok());
  CHECK(read_json(options.trace_path)["otherData"]["events_dropped"] == 17);
}

TEST_CASE("lines are counted where they pass") {
  const auto chip = make_chip();
  on_cores(*chip, kTwo, write_ten);
  const Statistics& statistics = chip->statistics();
  CHECK(statistics.mpb_ports[23].lines == 10);
  CHECK(statistics.memory_ports[0].lines == 10);
  CHECK(statistics.cores[0].mesh_reads == 10);
  CHECK(statistics.cores[0].mesh_writes == 10);
  CHECK(statistics.cores[0].accesses == 20);
  CHECK(statistics.cores[47].accesses == 0);
  // From (0,0) along row 0 to column 5, then up to row 3; the answers along row 3 first.
  const LinkLoads loads = link_loads(statistics);
  std::uint64_t sum = 0;
  for (const auto& tile : loads) {
    for (const std::uint64_t link : tile) sum += link;
  }
  CHECK(sum == 10 * 2 * 8);
  for (int column = 0; column < 5; ++column) {
    CHECK(loads[tile_at(column, 0)][static_cast<std::size_t>(Direction::kEast)] == 10);
    CHECK(loads[tile_at(column + 1, 3)][static_cast<std::size_t>(Direction::kWest)] == 10);
  }
  for (int row = 0; row < 3; ++row) {
    CHECK(loads[tile_at(5, row)][static_cast<std::size_t>(Direction::kSouth)] == 10);
    CHECK(loads[tile_at(0, row + 1)][static_cast<std::size_t>(Direction::kNorth)] == 10);
  }
}

TEST_CASE("the energy account adds up what its parameters say") {
  ChipOptions options;
  for (const ConstantInfo& info : constant_table()) {
    const std::string name(info.name);
    if (name.find("picojoules") != std::string::npos || name.find("milliwatts") != std::string::npos) {
      REQUIRE(set_constant(options, info.name, 0).ok());
    }
  }
  const auto energy = [&](const std::string& name, double value) {
    ChipOptions with = options;
    REQUIRE(set_constant(with, name, value).ok());
    const auto chip = make_chip(with);
    on_cores(*chip, kTwo, write_ten);
    return chip->energy();
  };
  CHECK(energy("l2_core_cycles", 18).total_uj() == 0);
  // Ten lines and ten answers over nine routers, ten and ten within tile (0,0).
  CHECK(energy("link_picojoules_per_line", 1e6).mesh_uj == Approx(10 * 2 * 9 + 10 * 2 * 1));
  CHECK(energy("mpb_picojoules_per_line", 1e6).mesh_uj == Approx(10));
  CHECK(energy("memory_picojoules_per_line", 1e6).memory_uj == Approx(10));
  const double seconds = 10'000 / 533e6;
  CHECK(energy("memory_milliwatts", 1e6).memory_uj == Approx(seconds * 1e9).epsilon(0.001));
  CHECK(energy("mesh_milliwatts", 1e6).mesh_uj == Approx(seconds * 1e9).epsilon(0.001));
  // Core 47 is active all the time, core 0 for some 2000 cycles, the others never.
  CHECK(energy("core_picojoules_per_cycle", 1e6).core_uj == Approx(12'000).epsilon(0.1));
  CHECK(energy("core_idle_picojoules_per_cycle", 1e6).core_uj == Approx(46 * 10'000 + 8'000).epsilon(0.01));
}
