// Turns of long reads.
#include <catch2/catch.hpp>

#include <functional>
#include <string>
#include <vector>

#include "services/etcd/limits.h"
#include "services/etcd/long_reads.h"

namespace ingot::etcd {
namespace {

TEST_CASE("One step is under way at a time, and reads take turns") {
  LongReads reads;
  std::string order;
  int under_way = 0;
  std::function<void(char, int)> read = [&](char name, int steps) {
    if (steps == 0) return;
    reads.enter([&, name, steps] {
      order += name;
      ++under_way;
      REQUIRE(under_way <= kLongReadStepsAtOnce);
      read(name, steps - 1);  // waits behind the others
    });
  };
  read('a', 3);
  read('b', 3);
  read('c', 1);
  REQUIRE(order == "a");
  while (under_way > 0) {
    --under_way;
    reads.leave();
  }
  REQUIRE(order == "aabcabb");
}

// As when the replicas refuse at once: no recursion, which a long queue would make too deep.
TEST_CASE("Steps that end at once do not nest") {
  LongReads reads;
  int depth = 0, steps = 0;
  const auto step = [&] {
    REQUIRE(++depth == 1);
    ++steps;
    reads.leave();
    --depth;
  };
  bool released = false;
  reads.enter([&] { released = true; });
  for (int i = 0; i < 100'000; ++i) reads.enter(step);
  REQUIRE(released);
  REQUIRE(steps == 0);
  reads.leave();
  REQUIRE(steps == 100'000);
}

}  // namespace
}  // namespace ingot::etcd
