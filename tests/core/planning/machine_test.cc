// Derived and measured machines, and the machine files that the project ships.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "core/planning/cost_model_derive.h"
#include "core/planning/cost_model_file.h"
#include "core/planning/cost_model_measure.h"
#include "core/planning/tree_planner/planner.h"

namespace ingot {
namespace {

CostModel derived(const std::string& topology, Threads threads = Threads::kOnePerCore) {
  return derive_machine(*synthetic_machine(topology), "derived", threads);
}

TEST_CASE("the further two cores are apart, the more a derived message costs") {
  const CostModel model = derived("package:8 numa:2 l3:2 l2:2 core:2 pu:2", Threads::kAll);
  REQUIRE(model.size() == 256);
  CHECK(validate(model).ok());
  CHECK(defects(model).empty());
  // To the sibling thread, within the L2, the L3, the node, the package, and over one, two and three links.
  double before = 0;
  for (const int to : {1, 2, 4, 8, 16, 32, 96, 224}) {
    CAPTURE(to);
    CHECK(model.edge(0, to) > before);
    CHECK(model.edge(0, to) == model.edge(to, 0));
    before = model.edge(0, to);
  }
  CHECK(model.cores[255].package == 7);
  CHECK(model.cores[255].numa_node == 15);
}

TEST_CASE("hyperthreads count only if asked for") {
  CHECK(derived("package:1 core:4 pu:2").size() == 4);
  CHECK(derived("package:1 core:4 pu:2", Threads::kAll).size() == 8);
}

TEST_CASE("on the SCC a write's cost grows with the distance, and a read of the own buffer always costs the same") {
  const CostModel scc = derive_scc();
  REQUIRE(scc.size() == 48);
  CHECK(defects(scc).empty());
  CHECK(scc.send.at(0, 1) == scc.send.at(0, 2));                  // within the tile, and one hop
  CHECK(scc.send.at(0, 47) == Approx(45 + 8 * 8 * 533.0 / 800));  // from corner to corner: 5 + 3 hops
  CHECK(scc.receive.at(0, 47) == scc.receive.at(0, 1));
  std::set<int> nodes;
  for (const MachineCore& core : scc.cores) nodes.insert(core.numa_node);
  CHECK(nodes == std::set<int>{0, 1, 2, 3});
  CHECK(scc.cores[0].numa_node == 0);
  CHECK(scc.cores[11].numa_node == 1);
  CHECK(scc.cores[47].numa_node == 3);
}

TEST_CASE("the shipped machine files equal those derived from their topologies, and plans for them are valid") {
  const struct {
    const char* file;
    const char* topology;  // null: the SCC
    Threads threads;
    int cores;
  } shipped[] = {
      {"intel-coffee-lake-1x8", "package:1 numa:1 l3:1 l2:8 core:1 pu:1", Threads::kOnePerCore, 8},
      {"amd-zen3-1x8x2", "package:1 numa:1 l3:1 l2:8 core:1 pu:2", Threads::kAll, 16},
      {"intel-ivy-bridge-ep-2x10", "package:2 numa:1 l3:1 l2:10 core:1 pu:2", Threads::kOnePerCore, 20},
      {"amd-interlagos-4x4x2", "package:4 numa:2 l3:1 l2:2 core:2 pu:1", Threads::kOnePerCore, 32},
      {"intel-scc-48", nullptr, Threads::kOnePerCore, 48},
      {"aws-graviton3-1x64", "package:1 numa:1 l3:1 l2:64 core:1 pu:1", Threads::kOnePerCore, 64},
      {"intel-westmere-ex-8x8", "package:8 numa:1 l3:1 l2:8 core:1 pu:2", Threads::kOnePerCore, 64},
      {"intel-skylake-sp-4x16x2", "package:4 numa:1 l3:1 l2:16 core:1 pu:2", Threads::kAll, 128},
      {"amd-rome-2x64", "package:2 numa:1 l3:16 l2:4 core:1 pu:2", Threads::kOnePerCore, 128},
      {"amd-rome-2x64x2", "package:2 numa:1 l3:16 l2:4 core:1 pu:2", Threads::kAll, 256},
  };
  for (const auto& machine : shipped) {
    CAPTURE(machine.file);
    std::stringstream text;
    text << std::ifstream(std::filesystem::path("machines") / (std::string(machine.file) + ".json")).rdbuf();
    CostModel expected = machine.topology != nullptr ? derived(machine.topology, machine.threads) : derive_scc();
    expected.name = machine.file;
    const auto model = read_machine(text.str());
    REQUIRE(model.ok());
    CHECK(*model == expected);
    CHECK(model->size() == machine.cores);
    CHECK(defects(*model).empty());
    for (const Objective objective : kObjectives) {
      CAPTURE(std::string(name_of(objective)));
      PlanRequest request{.objective = objective};
      request.budget.evaluations = 5000;
      const double best = cost_of(predict(*model, *plan_best(*model, request)), objective);
      for (const Planner& planner : planners()) {
        const auto tree = planner.plan(*model, request);
        if (!tree.ok()) continue;  // exact refuses this number of cores
        CHECK(validate(*tree).ok());
        CHECK(best <= cost_of(predict(*model, *tree), objective) + 1e-9);
      }
    }
  }
}

TEST_CASE("measuring gives a complete machine file of plausible cycles, and reports its progress") {
  const auto topology = this_machine();
  REQUIRE(topology.ok());
  if (topology->cores.size() < 2) {
    CHECK(measure_machine(*topology, "here", 10, [](int, int) {}).status().code() ==
          absl::StatusCode::kFailedPrecondition);
    return;
  }
  Topology two = *topology;
  two.cores.resize(2);
  std::vector<std::pair<int, int>> told;
  const auto measured = measure_machine(two, "here", 200, [&](int done, int all) { told.emplace_back(done, all); });
#if defined(__x86_64__)
  REQUIRE(measured.ok());
  CHECK(told == std::vector<std::pair<int, int>>{{1, 2}, {2, 2}});
  const CostModel& model = measured->model;
  CHECK(model.size() == 2);
  CHECK(validate(model).ok());
  CHECK(model.frequency_hz > 1e8);
  CHECK(model.occupancy(0, 1) <= model.receive.at(0, 1));
  CHECK(measured->spread_most >= measured->spread_median);
  CHECK(read_machine(write_machine(model))->round_trip == model.round_trip);
#else
  CHECK(measured.status().code() == absl::StatusCode::kFailedPrecondition);
#endif
}

TEST_CASE("a machine that cannot be measured is refused") {
  Topology one;
  one.cores.resize(1);
  CHECK(measure_machine(one, "here", 10, [](int, int) {}).status().code() == absl::StatusCode::kFailedPrecondition);
  Topology elsewhere;
  elsewhere.cores.resize(2);
  elsewhere.cores[0].id = CoreId(60'000);
  elsewhere.cores[1].id = CoreId(60'001);
  CHECK(!measure_machine(elsewhere, "here", 10, [](int, int) {}).ok());
}

}  // namespace
}  // namespace ingot
