// `ingotctl drill`: the words that name a target.
#include <catch2/catch.hpp>

#include "services/ingotctl/verbs/drill.h"

namespace ingot {
namespace {

namespace control_v1 = ::ingot::control::v1;

TEST_CASE("targets of drills are parsed, and other words refused") {
  CHECK(parse_target("leader")->target() == control_v1::DrillRequest::TARGET_LEADER);
  CHECK(parse_target("both")->target() == control_v1::DrillRequest::TARGET_BOTH);
  CHECK(parse_target("front-end")->target() == control_v1::DrillRequest::TARGET_FRONT_END);
  CHECK(parse_target("replica=47")->replica() == 47);
  for (const char* wrong : {"", "replica", "replica=", "replica=-1", "replica=x", "replica=1x", "frontend", "0"}) {
    CHECK(!parse_target(wrong));
  }
}

}  // namespace
}  // namespace ingot
