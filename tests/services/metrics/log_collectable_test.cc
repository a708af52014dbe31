#include "services/metrics/log_collectable.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "tests/services/status/pages_in_memory.h"

namespace ingot {
namespace {

std::map<std::string, double> lost_lines(const LogCollectable& collectable) {
  std::map<std::string, double> lines;
  for (const auto& family : collectable.Collect()) {
    CHECK(family.name == "ingot_log_lines_lost_total");
    for (const auto& metric : family.metric) lines[metric.label.at(0).value] = metric.counter.value;
  }
  return lines;
}

using Lines = std::map<std::string, double>;

// Regression: a dead replica, whose pid is 0, and its next incarnation each counted its lost lines once more.
TEST_CASE("lost lines are shown by process, and are counted once when a process dies and is started again") {
  PagesInMemory pages(2);
  const LogCollectable collectable(pages.config, pages.view());
  pages.daemon.log_lines_lost.set(412);
  pages[1].log_lines_lost.set(3);
  CHECK(lost_lines(collectable) == Lines{{"supervisor", 412}, {"front-end", 0}, {"replica-0", 0}, {"replica-1", 3}});
  for (const std::uint64_t pid : {0, 2000}) {
    pages.daemon.replicas[1].pid.set(pid);
    pages.daemon.supervisor_pid.set(pid);
    CHECK(lost_lines(collectable)["replica-1"] == 3);
    CHECK(lost_lines(collectable)["supervisor"] == 412);
  }
}

TEST_CASE("replicas that are threads of one process lose lines together, and the chip is one process") {
  PagesInMemory pages(3);
  pages.config.isolation = Isolation::kThread;
  pages[1].log_lines_lost.set(5);
  CHECK(lost_lines({pages.config, pages.view()}) == Lines{{"supervisor", 0}, {"front-end", 0}, {"replicas", 5}});
  pages.config.isolation = Isolation::kCore;
  CHECK(lost_lines({pages.config, pages.view()}) == Lines{{"supervisor", 0}});
}

}  // namespace
}  // namespace ingot
