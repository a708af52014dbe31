// Drills as tables, lines and JSON.
#include <catch2/catch.hpp>

#include "services/ingotctl/render/drill.h"

namespace ingot {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

control_v1::DrillResponse example() {
  control_v1::DrillResponse told;
  auto& replica = *told.add_hits();
  replica.set_process(control_v1::Hit::PROCESS_REPLICA);
  replica.set_replica(2);
  replica.set_pid(4711);
  replica.set_incarnation(3);
  replica.set_role(control_v1::ROLE_LEADER);
  auto& supervisor = *told.add_hits();
  supervisor.set_process(control_v1::Hit::PROCESS_SUPERVISOR);
  supervisor.set_pid(12);
  return told;
}

TEST_CASE("a drill is printed as a table, a line and JSON") {
  auto told = example();
  CHECK(drill_json("kill", told) ==
        R"({"action":"kill","hits":[{"process":"replica","id":2,"pid":4711,"incarnation":3,"role":"leader"},)"
        R"({"process":"supervisor","id":null,"pid":12,"incarnation":null,"role":null}],"outage":null})");
  CHECK(drill_table(told) ==
        "PROCESS     ID   PID  INCARNATION  ROLE\n"
        "replica      2  4711            3  leader\n"
        "supervisor   -    12            -  -\n");
  told.mutable_outage()->mutable_gap()->set_nanos(1'500'000);
  told.mutable_outage()->set_writes(3);
  CHECK_THAT(drill_json("stop", told), EndsWith(R"("outage":{"gap_ms":1.5,"writes":3}})"));
  CHECK_THAT(outage_line(told.outage()),
             Contains("no write was committed for 1.500 ms (measured by the front end with 3 "
                      "empty transactions"));
}

}  // namespace
}  // namespace ingot
