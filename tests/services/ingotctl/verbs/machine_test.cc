// `ingotctl machine` from the command line: its output, and one sentence for each error.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/services/ingotctl/verbs/command_line.h"

namespace ingot {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

TEST_CASE("a machine is shown as a picture, a table and JSON") {
  // 48 cores: every second one has its number on the axes.
  CHECK_THAT(run({"machine", "show", "machines/intel-scc-48.json", "-o", "svg"}).output,
             StartsWith("<svg ") && Contains(">46</text>") && !Contains(">47</text>") && EndsWith("</svg>\n"));
  CHECK_THAT(run({"machine", "show", "machines/intel-scc-48.json"}).output,
             Contains("48 cores") && Contains("asymmetry"));
  const Run json = run({"machine", "show", "machines/intel-scc-48.json", "-o", "json"});
  CHECK(nlohmann::json::parse(json.output)["numa_nodes"] == 4);
  CHECK(run({"machine", "check", "machines/intel-scc-48.json"}).code == 0);
}

TEST_CASE("a derived machine is a machine file") {
  const Run result = run({"machine", "derive", "--topology=package:2 core:3 pu:2", "--hyperthreads", "--name=six"});
  REQUIRE(result.code == 0);
  const std::string path = file_with("six.json", result.output);
  CHECK(run({"machine", "check", path}).code == 0);
  CHECK_THAT(run({"machine", "show", path}).output, StartsWith("six: 12 cores"));
  CHECK_THAT(refused({"machine", "derive", "--topology=nonsense"}), Contains("nonsense"));
  CHECK_THAT(refused({"machine", "derive", "--topology=package:1 core:1 pu:1"}), Contains("one core"));
}

TEST_CASE("a missing or unknown command gives one sentence and exit code 2") {
  CHECK_THAT(refused({"machine"}), Contains("measure, derive, show, check"));
  CHECK_THAT(refused({"machine", "shaw"}), Contains("unknown command shaw, did you mean show"));
}

TEST_CASE("a check prints one line for each defect, and their number") {
  const std::string file = file_with("bad", R"({"name": "bad", "cores": [{"id": 0}, {"id": 1}],
      "send": [[0, -1], [50, 0]], "receive": [[0, null], [200, 0]]})");
  const Run result = run({"machine", "check", file});
  CHECK(result.code == 2);
  CHECK(result.output == "send from core 0 to core 1 is negative (-1)\nreceive from core 0 to core 1 is missing\n");
  CHECK_THAT(result.error, EndsWith("bad: 2 defects\n"));
}

}  // namespace
}  // namespace ingot
