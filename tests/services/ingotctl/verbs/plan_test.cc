// `ingotctl plan` from the command line: its output, and one sentence for each error.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "core/planning/tree_file.h"
#include "tests/services/ingotctl/verbs/command_line.h"

namespace ingot {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

const char* const kMachine = "--machine=machines/intel-ivy-bridge-ep-2x10.json";

TEST_CASE("a plan as JSON has the agreed keys, and reads back as the tree it is") {
  const Run result = run({"plan", kMachine, "--planner=smelt", "--objective=barrier", "-o", "json"});
  REQUIRE(result.code == 0);
  const auto plan = nlohmann::ordered_json::parse(result.output);
  std::vector<std::string> keys;
  for (const auto& [key, value] : plan.items()) keys.push_back(key);
  CHECK(keys == std::vector<std::string>{"machine", "planner", "objective", "root", "children", "predicted"});
  CHECK(plan["machine"] == "intel-ivy-bridge-ep-2x10");
  CHECK(plan["planner"] == "smelt");
  CHECK(plan["objective"] == "barrier");
  keys.clear();
  for (const auto& [key, value] : plan["predicted"].items()) keys.push_back(key);
  CHECK(keys == std::vector<std::string>{"broadcast_cycles", "reduction_cycles", "barrier_cycles", "agreement_cycles",
                                         "bottleneck_cycles"});
  REQUIRE(read_tree(result.output).ok());

  const Run again = run({"plan", kMachine, "--evaluate=" + file_with("tree.json", result.output), "-o", "json"});
  REQUIRE(again.code == 0);
  const auto given = nlohmann::ordered_json::parse(again.output);
  CHECK(given["predicted"] == plan["predicted"]);
  CHECK(given["children"] == plan["children"]);
}

TEST_CASE("a hand-made tree is predicted as it stands") {
  // Two cores of one package and one of the other: 62 + 220 within, 193 + 690 between.
  const std::string tree = file_with("three.json", R"({"root": 0, "children": {"0": [20, 2]}})");
  const Run result = run({"plan", kMachine, "--evaluate=" + tree, "--group=0,2,20", "-o", "json"});
  REQUIRE(result.code == 0);
  const auto predicted = nlohmann::json::parse(result.output)["predicted"];
  CHECK(predicted["broadcast_cycles"] == 193 + 690);
  CHECK(predicted["bottleneck_cycles"] == 690);
  CHECK(predicted["reduction_cycles"] == 193 + 690);
}

TEST_CASE("roots and groups are obeyed, and the same seed gives the same answer") {
  const std::vector<std::string> words{
      "plan", kMachine, "--group=0,2,20,24", "--root=24", "--seed=9", "--evaluations=2000", "-o", "json"};
  const Run result = run(words);
  REQUIRE(result.code == 0);
  CHECK(run(words).output == result.output);
  const auto named = read_tree(result.output);
  REQUIRE(named.ok());
  CHECK(named->cores.front() == CoreId(24));
  CHECK(named->cores.size() == 4);
}

TEST_CASE("a comparison has a row for each planner that takes the group, and none is better than best") {
  const Run json = run({"plan", kMachine, "--compare", "--evaluations=3000", "-o", "json"});
  REQUIRE(json.code == 0);
  std::stringstream lines(json.output);
  std::vector<std::string> names;
  double best = 0, least = 1e18;
  for (std::string line; std::getline(lines, line);) {
    const auto plan = nlohmann::json::parse(line);
    names.push_back(plan["planner"]);
    const double cycles = plan["predicted"]["broadcast_cycles"];
    least = std::min(least, cycles);
    if (names.back() == "best") best = cycles;
  }
  CHECK(names == std::vector<std::string>{"binary", "fibonacci", "mst", "cluster", "sequential", "bad", "smelt",
                                          "ingot", "best"});
  CHECK(best == least);
  const Run table = run({"plan", kMachine, "--compare", "--evaluations=3000"});
  CHECK(table.code == 0);
  CHECK_THAT(table.output, Contains("PLANNER") && Contains("BOTTLENECK") && Contains("sequential"));
  CHECK_THAT(run({"plan", kMachine, "--compare", "--group=0,2,20"}).output, Contains("exact"));
}

TEST_CASE("a plan is printed as a table, a dot graph and a picture") {
  CHECK_THAT(run({"plan", kMachine, "--planner=binary"}).output, Contains("broadcast") && Contains("cycles"));
  CHECK_THAT(run({"plan", kMachine, "--planner=binary", "-o", "dot"}).output,
             StartsWith("digraph tree {") && Contains("0 -> 2 [label=\"1: 62+220\"]") && EndsWith("}\n"));
  const Run picture = run({"plan", kMachine, "--planner=binary", "-o", "svg"});
  CHECK_THAT(picture.output, StartsWith("<svg ") && Contains("critical path") && EndsWith("</svg>\n"));
  CHECK_THAT(run({"plan", kMachine, "--planner=binary", "--objective=barrier", "-o", "svg"}).output,
             Contains(": a broadcast on the tree for barrier, in "));
}

TEST_CASE("an error gives one sentence and exit code 2") {
  CHECK_THAT(refused({"plan", "--machine=/nowhere"}), Contains("cannot read /nowhere: No such file"));
  CHECK_THAT(refused({"plan"}), Contains("--machine"));
  CHECK_THAT(refused({"plan", kMachine, "--planner=bets"}), Contains("there is no planner 'bets'"));
  CHECK_THAT(refused({"plan", kMachine, "--objective=speed"}), Contains("broadcast"));
  CHECK_THAT(refused({"plan", kMachine, "--root=99"}), Contains("core 99, is not a core of"));
  CHECK_THAT(refused({"plan", kMachine, "--group=0,2", "--root=4"}), Contains("not in the group"));
  CHECK_THAT(refused({"plan", kMachine, "--group=0,99"}), Contains("core 99, which"));
  CHECK_THAT(refused({"plan", kMachine, "--group=0,0"}), Contains("twice"));
  CHECK_THAT(refused({"plan", kMachine, "--group=2"}), Contains("only one core"));
  CHECK_THAT(refused({"plan", kMachine, "--group=x"}), Contains("'x'"));
  CHECK_THAT(refused({"plan", kMachine, "--budget=5"}), Contains("duration"));
  CHECK_THAT(refused({"plan", kMachine, "--planner=exact"}), Contains("at most 12 cores"));
  CHECK_THAT(refused({"plan", kMachine, "--compare", "-o", "svg"}), Contains("--compare prints"));
  CHECK_THAT(refused({"plan", kMachine, "--evaluate=" + file_with("wrong", "{")}), Contains("wrong: it is not JSON"));
  CHECK_THAT(refused({"plan", kMachine, "--evaluate=" + file_with("far", R"({"root": 0, "children": {"0": [999]}})")}),
             Contains("core 999, which"));
  const std::string three = file_with("lacks", R"({"root": 0, "children": {"0": [2, 4]}})");
  CHECK_THAT(refused({"plan", kMachine, "--evaluate=" + three}), Contains("lacks core"));
  CHECK_THAT(refused({"plan", kMachine, "--evaluate=" + three, "--group=0,2,4,6"}), Contains("lacks core 6"));
  CHECK_THAT(refused({"plan", kMachine, "--evaluate=" + three, "--group=0,2"}), Contains("core 4, which"));
  CHECK_THAT(refused({"plan", "--machine=" + file_with("nan", R"({"cores": [{"id": 0}], "send": [[NaN]]})")}),
             Contains("not JSON"));
}

}  // namespace
}  // namespace ingot
