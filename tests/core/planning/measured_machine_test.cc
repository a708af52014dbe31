// The quality that planners must reach on a machine with measured costs: machines/intel-ivybridge-2x10.json.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "core/planning/cost_model_file.h"
#include "core/planning/tree_planner/planner.h"

namespace ingot {
namespace {

TEST_CASE("plans for the measured 20-core machine reach their targets") {
  std::stringstream text;
  text << std::ifstream("machines/intel-ivybridge-2x10.json").rdbuf();
  const auto model = read_machine(text.str());
  REQUIRE(model.ok());
  CHECK(defects(*model).empty());
  PlanRequest wanted;

  SECTION("a broadcast takes at most 1320 cycles") {
    CHECK(predict(*model, *plan_best(*model, wanted)).broadcast <= 1320);
  }
  SECTION("Smelt's adaptive tree comes close to what its authors' planner reaches") {
    CHECK(predict(*model, *plan_smelt(*model, wanted)).broadcast == Approx(1386.5).epsilon(0.03));
  }
  SECTION("best is never worse than any other planner, for any objective") {
    for (const Objective objective : kObjectives) {
      wanted.objective = objective;
      wanted.budget.evaluations = 50'000;
      const double best = cost_of(predict(*model, *plan_best(*model, wanted)), objective);
      for (const Planner& planner : planners()) {
        const auto tree = planner.plan(*model, wanted);
        if (!tree.ok()) continue;
        CAPTURE(planner.name, std::string(name_of(objective)));
        CHECK(best <= cost_of(predict(*model, *tree), objective) + 1e-9);
      }
    }
  }
}

}  // namespace
}  // namespace ingot
