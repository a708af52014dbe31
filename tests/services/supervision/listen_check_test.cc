// Regression: a daemon with --listen=HOST:0 and --metrics-listen=HOST:0 could be given one free port twice.
#include "services/supervision/listen_check.h"

#include <unistd.h>

#include <catch2/catch.hpp>

#include <string>

using ingot::claim_instance_name;
using ingot::claim_listen_address;
using ingot::Descriptor;

TEST_CASE("a claimed port is neither chosen again nor claimed a second time", "[listen]") {
  std::string first = "127.0.0.1:0";
  const auto held = claim_listen_address(first, "--listen");
  REQUIRE(held.ok());
  CHECK(first != "127.0.0.1:0");

  std::string same = first;
  const auto refused = claim_listen_address(same, "--metrics-listen");
  REQUIRE(absl::IsAlreadyExists(refused.status()));
  CHECK(std::string(refused.status().message()).find("--metrics-listen=HOST:PORT") != std::string::npos);

  std::string second = "127.0.0.1:0";
  const auto other = claim_listen_address(second, "--metrics-listen");
  REQUIRE(other.ok());
  CHECK(second != first);
}

TEST_CASE("a claimed port is free again when the claim is dropped", "[listen]") {
  std::string address = "127.0.0.1:0";
  REQUIRE(claim_listen_address(address, "--listen").ok());
  CHECK(claim_listen_address(address, "--listen").ok());
}

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
