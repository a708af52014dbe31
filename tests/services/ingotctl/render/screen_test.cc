// The status that is redrawn in place.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "services/ingotctl/render/screen.h"
#include "tests/services/ingotctl/render/status_example.h"

namespace ingot {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;

constexpr StatusScreen::Clock::time_point kStart{1h};

Terminal terminal(std::size_t columns, std::size_t rows, bool styles = true) {
  return {.redraws = true, .styles = styles, .columns = columns, .rows = rows};
}

control_v1::GetStatusResponse group_of(std::uint32_t replicas) {
  auto status = example();
  for (std::uint32_t id = 2; id < replicas; ++id) {
    auto& replica = *status.add_replicas() = status.replicas(1);
    replica.set_id(id);
    replica.set_role(control_v1::ROLE_REPLICA);
  }
  return status;
}

// The lines that a screen shows, without control sequences.
std::vector<std::string> lines_of(const std::string& drawn) {
  const std::string plain =
      absl::StrReplaceAll(drawn, {{"\x1b[H\x1b[J", ""}, {"\x1b[1m", ""}, {"\x1b[7m", ""}, {"\x1b[0m", ""}});
  std::vector<std::string> lines = absl::StrSplit(plain, '\n');
  REQUIRE(lines.back().empty());  // behind the last line break: where the cursor is
  lines.pop_back();
  return lines;
}

TEST_CASE("the screen marks the replica that has just changed") {
  StatusScreen screen;
  auto status = example();
  CHECK_THAT(screen.draw(status, terminal(120, 24), kStart), !Contains("\x1b[7m"));
  status.mutable_replicas(1)->set_role(control_v1::ROLE_LEADER);
  const std::string drawn = screen.draw(status, terminal(120, 24), kStart + 1s);
  CHECK_THAT(drawn, Contains("\x1b[7m 1  101"));
  CHECK_THAT(drawn, Contains("\x1b[1m 0  100"));
  CHECK_THAT(screen.draw(status, terminal(120, 24), kStart + 5s), !Contains("\x1b[7m"));
}

TEST_CASE("without styles a star marks the replica that has just changed") {
  StatusScreen screen;
  auto status = example();
  CHECK_THAT(screen.draw(status, terminal(120, 24, false), kStart), !Contains("*"));
  status.mutable_replicas(1)->set_state(control_v1::STATE_STOPPED);
  const std::string drawn = screen.draw(status, terminal(120, 24, false), kStart + 1s);
  CHECK_THAT(drawn, Contains("\n*  1  101"));
  CHECK_THAT(drawn, Contains("\n   0  100"));
  CHECK_THAT(drawn, !Contains("\x1b[7m"));
  CHECK_THAT(drawn, !Contains("\x1b[1m"));
}

TEST_CASE("a terminal of 80 columns has no room for the least important columns, and nothing wraps") {
  StatusScreen screen;
  const auto lines = lines_of(screen.draw(example(), terminal(80, 24), kStart));
  CHECK(lines[1] == "ID  PID  STATE  ROLE      INCARNATION  EPOCH  BALLOT  DECIDED  APPLIED  LAG");
  CHECK_THAT(lines_of(screen.draw(example(), terminal(120, 24), kStart))[1], Contains("CORE"));
}

TEST_CASE("a screen is no larger than its terminal") {
  const std::size_t replicas = GENERATE(2u, 5u, 48u);
  const bool styles = GENERATE(true, false);
  StatusScreen screen;
  auto status = group_of(static_cast<std::uint32_t>(replicas));
  status.mutable_blocked()->set_details(
      "the leader does not answer, and no other replica has taken its place; nothing was decided for 1734 ms");
  for (int step = 0; step < 20; ++step) {  // events gather
    status.mutable_replicas(1)->set_incarnation(static_cast<std::uint64_t>(step) + 1);
    for (const std::size_t columns : {10u, 40u, 80u, 200u}) {
      for (const std::size_t rows : {2u, 10u, 24u, 80u}) {
        const auto lines = lines_of(screen.draw(status, terminal(columns, rows, styles), kStart + step * 1s));
        CAPTURE(columns, rows, step);
        CHECK(lines.size() < rows);
        for (const std::string& line : lines) CHECK(columns_of(line) <= columns);
      }
    }
  }
}

TEST_CASE("many replicas are shown page by page, and each has its turn") {
  StatusScreen screen;
  const auto status = group_of(48);
  std::vector<bool> seen(48);
  std::string first_page_line;
  for (int second = 0; second < 60; ++second) {
    const auto lines = lines_of(screen.draw(status, terminal(80, 24), kStart + second * 1s));
    for (const std::string& line : lines) {
      const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
      int id = 0;
      const bool row = words.size() > 5 && words[2] == "up" && absl::SimpleAtoi(words[0], &id);
      if (row) seen[static_cast<std::size_t>(id)] = true;
      if (absl::StartsWith(line, "replicas ") && first_page_line.empty()) first_page_line = line;
    }
  }
  CHECK(first_page_line == "replicas 0 to 19 of 48, page 1 of 3: each for 5 s");
  for (std::size_t id = 0; id < seen.size(); ++id) {
    CAPTURE(id);
    CHECK(seen[id]);
  }
}

TEST_CASE("replicas that fit have no pages, and events take what is left") {
  StatusScreen screen;
  auto status = group_of(20);
  std::vector<std::string> lines;
  for (int step = 0; step < 8; ++step) {
    status.mutable_replicas(2)->set_incarnation(static_cast<std::uint64_t>(step) + 1);
    lines = lines_of(screen.draw(status, terminal(120, 28), kStart + step * 1s));
  }
  CHECK_THAT(lines[0], Contains("ingot-2379"));
  CHECK_THAT(lines[21], Contains("19  101"));
  CHECK(lines.size() == 27);
  CHECK_THAT(lines.back(), Contains("replica 2 is up: incarnation 8"));
}

}  // namespace
}  // namespace ingot
