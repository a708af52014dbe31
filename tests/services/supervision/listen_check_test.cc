// An instance's name is claimed among those of one user.
#include "services/supervision/listen_check.h"

#include <unistd.h>

#include <catch2/catch.hpp>

#include <string>

using ingot::claim_instance_name;
using ingot::Descriptor;

TEST_CASE("a name is claimed once, and is free again when the claim is dropped", "[listen]") {
  const std::string name = "claimed-" + std::to_string(::getpid());
  Descriptor first, second;
  REQUIRE(claim_instance_name(name, first).ok());
  const absl::Status refused = claim_instance_name(name, second);
  REQUIRE(absl::IsAlreadyExists(refused));
  CHECK(std::string(refused.message()) == "an instance named \"" + name + "\" is running (pid " +
                                              std::to_string(::getpid()) + "); choose another name with --name=NAME");
  CHECK(claim_instance_name(name + "-other", second).ok());
  first.reset();
  CHECK(claim_instance_name(name, first).ok());
}
