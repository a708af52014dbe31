// The status that is redrawn in place.
#include <catch2/catch.hpp>
#include <string>

#include "services/ingotctl/render/screen.h"
#include "tests/services/ingotctl/render/status_example.h"

namespace ingot {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("the screen marks the replica that has just changed") {
  StatusScreen screen;
  auto status = example();
  CHECK_THAT(screen.draw(status), !Contains("\x1b[7m"));
  status.mutable_replicas(1)->set_role(control_v1::ROLE_LEADER);
  const std::string drawn = screen.draw(status);
  CHECK_THAT(drawn, Contains("\x1b[7m 1  101"));
  CHECK_THAT(drawn, Contains("\x1b[1m 0  100"));
}

}  // namespace
}  // namespace ingot
