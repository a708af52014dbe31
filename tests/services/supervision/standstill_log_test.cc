#include "services/supervision/standstill_log.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "replication/pages/page_status.h"

namespace ingot {
namespace {

using Lines = std::vector<std::string>;

// Regression: with all replicas stopped the log stayed silent.
TEST_CASE("the log says that no replica runs, once, and when one runs again") {
  boost::asio::io_context io;
  Lines warnings, infos;
  StandstillLog log(io, [&](const std::string& line) { warnings.push_back(line); },
                    [&](const std::string& line) { infos.push_back(line); });
  log.observe(true);
  log.observe(false);
  CHECK(warnings.empty());
  log.observe(false);  // another replica's change
  io.run();
  CHECK(warnings == Lines{no_replica_runs()});
  CHECK(infos.empty());
  log.observe(true);
  log.observe(true);
  CHECK(infos == Lines{"a replica runs again, or is being started"});
  io.restart();
  io.run();
  CHECK(warnings.size() == 1);
}

TEST_CASE("replicas that die and are started again at once are no standstill") {
  boost::asio::io_context io;
  Lines lines;
  const auto add = [&](const std::string& line) { lines.push_back(line); };
  StandstillLog log(io, add, add);
  log.observe(false);
  log.observe(true);
  io.run();
  CHECK(lines.empty());
}

}  // namespace
}  // namespace ingot
