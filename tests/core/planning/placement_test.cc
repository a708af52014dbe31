// The rules of core/planning/placement.h, checked by counting on machines of many shapes, not by a second placement.
#include "core/limits.h"
#include "core/planning/placement.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>


namespace ingot {
namespace {

const std::vector<std::string> kShapes = {
    "core:1",
    "core:2",
    "core:3",
    "pu:4",
    "package:1 core:4 pu:2",
    "package:1 l3:1 core:8 pu:2",
    "package:2 core:1",
    "package:2 l3:1 core:2",
    "package:2 numa:2 l3:2 l2:2 core:2 pu:2",
    "package:1 l3:8 core:1",
    "package:4 l3:1 core:16 pu:2",
    "package:1 l3:1 l2:8 core:4",
    "package:2 l3:16 core:4 pu:2",
};

Topology machine(const std::string& shape) {
  const bool has_threads = shape.find("pu:") != std::string::npos;
  auto result = synthetic_machine(has_threads ? shape : shape + " pu:1");
  REQUIRE(result.ok());
  return *result;
}

std::map<CoreId, int> load(const Placement& placement) {
  std::map<CoreId, int> replicas_of_core;
  for (const CoreId core : placement.replicas) ++replicas_of_core[core];
  return replicas_of_core;
}

Distance apart(const Topology& topology, CoreId a, CoreId b) { return distance(*topology.find(a), *topology.find(b)); }

TEST_CASE("on every machine and for every group the rules hold") {
  for (const std::string& shape : kShapes) {
    const Topology topology = machine(shape);
    const std::size_t cores = topology.cores.size();
    for (int replicas = 1; replicas <= kReplicasMax; ++replicas) {
      INFO(replicas << " replicas on " << shape);
      const Placement placement = place(topology, replicas);
      const auto loads = load(placement);
      REQUIRE(placement.replicas.size() == static_cast<std::size_t>(replicas));
      for (const CoreId core : placement.replicas) REQUIRE(topology.find(core) != nullptr);

      // With two cores or more, the front end has a core without replicas.
      REQUIRE(placement.front_end.size() == (cores == 1 ? 1 : cores - loads.size()));
      for (const CoreId core : placement.front_end) REQUIRE((loads.count(core) == 0 || cores == 1));

      // No replica shares a core while a usable one is free.
      const std::size_t usable = std::max<std::size_t>(1, cores - 1);
      REQUIRE(loads.size() == std::min(usable, static_cast<std::size_t>(replicas)));
      for (int i = 0; i < replicas; ++i) {
        const bool alone = loads.at(placement.replicas[static_cast<std::size_t>(i)]) == 1;
        REQUIRE(placement.owns_core(static_cast<std::size_t>(i)) == (alone && cores > 1));
      }
    }
  }
}

TEST_CASE("leader and acceptor have different cores, as near each other as the machine has any two") {
  for (const std::string& shape : kShapes) {
    const Topology topology = machine(shape);
    if (topology.cores.size() < 3) continue;
    Distance nearest = Distance::kOtherPackage;
    for (const CoreInfo& a : topology.cores) {
      for (const CoreInfo& b : topology.cores) {
        if (a.id != b.id) nearest = std::min(nearest, distance(a, b));
      }
    }
    for (const int replicas : {2, 3, 5, 7, 48}) {
      INFO(replicas << " replicas on " << shape);
      const Placement placement = place(topology, replicas);
      CHECK(apart(topology, placement.replicas[0], placement.replicas[1]) == nearest);
      CHECK(placement.owns_core(0));
      if (topology.cores.size() > 3 || replicas == 2) CHECK(placement.owns_core(1));
    }
  }
}

TEST_CASE("if each replica has its own core, no unused core is nearer to the leader") {
  for (const std::string& shape : kShapes) {
    const Topology topology = machine(shape);
    for (int replicas = 1; replicas < static_cast<int>(topology.cores.size()) && replicas <= kReplicasMax; ++replicas) {
      INFO(replicas << " replicas on " << shape);
      const Placement placement = place(topology, replicas);
      const CoreId leader = placement.replicas[0];
      for (std::size_t i = 1; i < placement.replicas.size(); ++i) {
        CHECK(apart(topology, leader, placement.replicas[i - 1]) <= apart(topology, leader, placement.replicas[i]));
      }
      CHECK(apart(topology, leader, placement.replicas.back()) <= apart(topology, leader, placement.front_end.front()));
    }
  }
}

TEST_CASE("machines of one and two cores pack the group, and three replicas on four cores are all apart") {
  using Cores = std::vector<CoreId>;
  const CoreId c0(0), c1(1), c2(2), c3(3);
  CHECK(place(machine("core:1"), 3).replicas == Cores{c0, c0, c0});
  CHECK(place(machine("core:1"), 3).front_end == Cores{c0});
  CHECK(place(machine("core:2"), 3).replicas == Cores{c0, c0, c0});
  CHECK(place(machine("core:2"), 3).front_end == Cores{c1});
  CHECK(place(machine("core:3"), 4).replicas == Cores{c0, c1, c1, c1});
  CHECK(place(machine("core:4"), 3).replicas == Cores{c0, c1, c2});
  CHECK(place(machine("core:4"), 3).front_end == Cores{c3});
  CHECK(place(machine("core:4"), 6).replicas == Cores{c0, c1, c2, c2, c2, c2});
}

TEST_CASE("the home is the largest cache group, wherever it is") {
  // Two packages, of which the affinity mask left one core and three.
  Topology topology = machine("package:2 l3:1 core:4");
  topology.cores.erase(topology.cores.begin() + 1, topology.cores.begin() + 5);
  REQUIRE(topology.cores.size() == 4);
  CHECK(place(topology, 3).replicas == std::vector<CoreId>{CoreId(5), CoreId(6), CoreId(7)});
  CHECK(place(topology, 3).front_end == std::vector<CoreId>{CoreId(0)});
}

TEST_CASE("the other policies: all on one core, or on all cores in turn") {
  const Topology topology = machine("package:1 l3:1 core:4");
  CHECK(load(place(topology, 9, PlacementPolicy::kPack)).size() == 1);
  CHECK(place(topology, 9, PlacementPolicy::kPack).front_end.size() == 3);
  const auto spread = load(place(topology, 9, PlacementPolicy::kSpread));
  CHECK(spread.size() == 4);
  for (const auto& [core, replicas] : spread) CHECK((replicas == 2 || replicas == 3));
  CHECK(place(topology, 2, PlacementPolicy::kSpread).front_end.size() == 2);
}

}  // namespace
}  // namespace ingot
