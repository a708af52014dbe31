// Runs every scenario and compares traces. INGOT_REWRITE_SCENARIOS=1 writes the new traces into the files instead: run
// the test's binary from the repository's root, and review the difference like code.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/replication/agreement/scenario.h"

namespace ingot::testing {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> scenarios() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator("tests/replication/agreement/scenarios")) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST_CASE("every scenario leaves the trace that its file says") {
  const bool rewrite = std::getenv("INGOT_REWRITE_SCENARIOS") != nullptr;
  const auto paths = scenarios();
  REQUIRE(paths.size() > 10);
  for (const auto& path : paths) {
    DYNAMIC_SECTION(path.filename().string()) {
      const std::string expected = read_file(path);
      const std::string actual = run_scenario(expected);
      if (rewrite) std::ofstream(path) << actual;
      else CHECK(actual == expected);
    }
  }
}

TEST_CASE("a scenario with a wrong command says so in its trace") {
  CHECK(run_scenario("hello\n----\n").find("no command is called hello") != std::string::npos);
  CHECK(run_scenario("tick 0\n----\n").find("there is no group yet") != std::string::npos);
  CHECK(run_scenario("group 3 1paxos\ndeliver 01\n----\n").find("a link is A->B") != std::string::npos);
}

}  // namespace
}  // namespace ingot::testing
