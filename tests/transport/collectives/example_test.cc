// The example of docs/collectives.md, compiled and run; the page shows the text between the two marks.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

// example begins
#include <cmath>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "core/planning/tree.h"
#include "transport/collectives/collectives.h"
#include "transport/collectives/progress_engine.h"
#include "transport/host/event_loop.h"
#include "transport/host/fabric.h"
#include "transport/host/host_transport.h"

using namespace ingot;

constexpr int kMembers = 4;
constexpr GroupId kGroup(1);

// Adds up every member's square root, over and over, and stops its loop after 1000 rounds.
double sum_of_roots(Fabric& fabric, const Tree& tree, EndpointId self) {
  std::vector<EndpointId> members;
  std::vector<std::span<std::byte>> inboxes;
  for (std::uint16_t i = 0; i < kMembers; ++i) {
    members.push_back(EndpointId(i));
    inboxes.push_back(fabric.inbox(EndpointId(i)));
  }
  auto transport = make_transport(TransportKind::kNvp, inboxes, self, fabric, {});
  ProgressEngine engine(*transport, kMembers);
  auto loop = EventLoop::create(WaitOptions::shared_core());
  (*loop)->add(engine, fabric, self);

  double sum = 0;
  const auto data = std::as_writable_bytes(std::span(&sum, 1));
  auto seat = TreeSeat::of(tree, members, self, kMembers);
  auto allreduce = make_allreduce(*seat, reducer<double>(ReduceOperation::kSum), data);
  int rounds = 0;
  const auto start = [&] {
    sum = std::sqrt(self.value());
    return engine.start(kGroup, *allreduce).ok();
  };
  allreduce->on_end([&](Schedule& ended) {
    if (!ended.done() || ++rounds == 1000 || !start()) (*loop)->stop();
  });
  start();
  (*loop)->run();
  while (transport->flush()) continue;  // the last message may still be on its way out
  return sum;
}

std::vector<double> run_example() {
  auto fabric = Fabric::create("example", kMembers, inbox_bytes(TransportKind::kNvp, kMembers));
  Tree tree(kMembers, 0);  // or one that core/planning/tree_planner has planned for this machine
  tree.children = {{1, 2}, {3}, {}, {}};
  std::vector<double> sums(kMembers);
  std::vector<std::thread> threads;
  for (std::uint16_t i = 0; i < kMembers; ++i) {
    threads.emplace_back([&, i] { sums[i] = sum_of_roots(*fabric, tree, EndpointId(i)); });
  }
  for (auto& thread : threads) thread.join();
  return sums;  // all four the same to the last bit: ((0 + (1 + sqrt 3)) + sqrt 2)
}
// example ends

namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST_CASE("the example gives what its comment says") {
  for (const double sum : run_example()) CHECK(sum == (0 + (1 + std::sqrt(3))) + std::sqrt(2));
}

TEST_CASE("the page shows the example that is compiled") {
  const auto root = std::filesystem::canonical("WORKSPACE").parent_path();
  const std::string source = read(root / "tests/transport/collectives/example_test.cc");
  const auto begin = source.find("// example begins\n") + 18, end = source.find("// example ends\n");
  std::string shown;
  std::istringstream lines(source.substr(begin, end - begin));
  for (std::string line; std::getline(lines, line);) shown += (line.empty() ? "" : "    ") + line + "\n";
  CHECK(read(root / "docs/collectives.md").find(shown) != std::string::npos);
}

}  // namespace
