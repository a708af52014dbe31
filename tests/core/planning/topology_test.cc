// Topology: synthetic machines are read as described, and the real one agrees with the kernel.
#include "core/planning/topology.h"

#include <sched.h>

#include <catch2/catch.hpp>
#include <set>
#include <thread>

namespace ingot {
namespace {

TEST_CASE("a made-up machine has the shape it was described with") {
  auto machine = synthetic_machine("package:2 numa:2 l3:2 l2:2 core:2 pu:2");
  REQUIRE(machine.ok());
  REQUIRE(machine->cores.size() == 32);
  CHECK(machine->packages == 2);
  CHECK(machine->numa_nodes == 4);
  CHECK(summary(*machine) == "2 packages, 4 NUMA nodes, 32 cores, 64 hardware threads");
  for (std::size_t i = 0; i < machine->cores.size(); ++i) {
    const CoreInfo& core = machine->cores[i];
    const int n = static_cast<int>(i);
    CHECK(core == CoreInfo{CoreId(static_cast<CoreId::rep>(2 * i)), n / 16, n / 8, n / 4, n / 2, {2 * n, 2 * n + 1}});
  }
  const auto from_first = [&](std::size_t i) { return distance(machine->cores[0], machine->cores[i]); };
  CHECK(from_first(0) == Distance::kSameCore);
  CHECK(from_first(1) == Distance::kSameL2);
  CHECK(from_first(2) == Distance::kSameL3);
  CHECK(from_first(4) == Distance::kSameNumaNode);
  CHECK(from_first(8) == Distance::kSamePackage);
  CHECK(from_first(16) == Distance::kOtherPackage);
  CHECK(machine->find(CoreId(6)) == &machine->cores[3]);
  CHECK(machine->find(CoreId(7)) == nullptr);  // a second hardware thread is not a core
}

TEST_CASE("a machine that shows few details is read, too") {
  auto flat = synthetic_machine("pu:3");
  REQUIRE(flat.ok());
  REQUIRE(flat->cores.size() == 3);
  CHECK(flat->cores[1].l3 == -1);
  CHECK(flat->cores[1].package == -1);
  // Unknown caches do not count as shared.
  CHECK(distance(flat->cores[0], flat->cores[1]) == Distance::kSameNumaNode);
}

TEST_CASE("an invalid description is refused with a sentence") {
  for (const char* text : {"", "core", "core:2", "pu:0", "banana:2 pu:1", "pu:1 core:2"}) {
    INFO("\"" << text << "\"");
    CHECK(synthetic_machine(text).status().code() == absl::StatusCode::kInvalidArgument);
  }
}

std::set<int> allowed_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  REQUIRE(::sched_getaffinity(0, sizeof set, &set) == 0);
  std::set<int> threads;
  for (int thread = 0; thread < CPU_SETSIZE; ++thread) {
    if (CPU_ISSET(thread, &set)) threads.insert(thread);
  }
  return threads;
}

std::set<int> threads_of(const Topology& machine) {
  std::set<int> threads;
  for (const CoreInfo& core : machine.cores) threads.insert(core.hardware_threads.begin(), core.hardware_threads.end());
  return threads;
}

TEST_CASE("this machine's hardware threads are those that the kernel lets us use, before and after binding") {
  std::thread([] {  // a separate thread, whose binding ends with it
    auto machine = this_machine();
    REQUIRE(machine.ok());
    CHECK(threads_of(*machine) == allowed_threads());
    const CoreId last = machine->cores.back().id;
    REQUIRE(bind_this_thread({last}).ok());
    CHECK(::sched_getcpu() == last.value());
    CHECK(allowed_threads() == std::set<int>{last.value()});
    auto bound = this_machine();
    REQUIRE(bound.ok());
    CHECK(threads_of(*bound) == std::set<int>{last.value()});
  }).join();
}

TEST_CASE("binding to no core, or to one that is not there, is refused") {
  CHECK(bind_this_thread({}).code() == absl::StatusCode::kInvalidArgument);
  CHECK(bind_this_thread({CoreId(CPU_SETSIZE - 1)}).code() == absl::StatusCode::kInvalidArgument);
  CHECK(bind_this_thread({CoreId(0xffff)}).code() == absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ingot
