// Predictions against a simple event simulation of the same machine, and by hand on small machines.
#include "core/planning/tree_prediction.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <map>

#include "core/planning/tree_planner/all_trees.h"
#include "tests/core/planning/random_machine.h"

namespace ingot {
namespace {

CostModel even_machine(int cores, double send, double receive) {
  CostModel model;
  model.name = "even";
  model.send = model.receive = CycleMatrix(cores);
  for (int i = 0; i < cores; ++i) model.cores.push_back({CoreId(static_cast<CoreId::rep>(i)), 0, 0});
  for (int from = 0; from < cores; ++from) {
    for (int to = 0; to < cores; ++to) {
      if (from == to) continue;
      model.send.set(from, to, send);
      model.receive.set(from, to, receive);
    }
  }
  return model;
}

TEST_CASE("a star and a chain, by hand") {
  const CostModel model = even_machine(4, 60, 200);
  Tree star(4, 0);
  star.children[0] = {1, 2, 3};
  // Sends at 60, 120, 180; the last receive ends at 380. Up: all messages can be done at 260, each occupies 60.
  CHECK(predict(model, star) == Prediction{380, 380, 760, 1140, 200});
  CHECK(broadcast_arrivals(model, star) == std::vector<double>{0, 260, 320, 380});
  Tree chain(4, 0);
  chain.children = {{1}, {2}, {3}, {}};
  CHECK(predict(model, chain) == Prediction{780, 780, 1560, 2340, 260});
  CHECK(critical_path(model, chain) == std::vector<int>{0, 1, 2, 3});
}

TEST_CASE("one core has nothing to do") {
  const Tree alone(1, 0);
  CHECK(predict(even_machine(1, 60, 200), alone) == Prediction{0, 0, 0, 0, 0});
}

TEST_CASE("a child waits for its earlier siblings, in the order given") {
  CostModel model = even_machine(3, 10, 100);
  model.send.set(0, 2, 70);
  Tree tree(3, 0);
  tree.children[0] = {1, 2};
  CHECK(predict(model, tree).broadcast == 10 + 70 + 100);
  tree.children[0] = {2, 1};
  CHECK(predict(model, tree).broadcast == 70 + 10 + 100);
  CHECK(broadcast_arrivals(model, tree)[2] == 170);
  model.receive.set(0, 2, 300);
  order_children(model, tree);
  CHECK(tree.children[0] == std::vector<int>{2, 1});
}

TEST_CASE("messages that come late are received alone, messages that wait overlap") {
  std::vector<Arrival> apart{{1000, 50}, {100, 50}};
  CHECK(receive_all(apart) == 1050);
  std::vector<Arrival> together{{100, 50}, {110, 60}, {105, 40}};
  CHECK(receive_all(together) == 250);
  std::vector<Arrival> none;
  CHECK(receive_all(none) == 0);
}

TEST_CASE("a wide reduction costs far less than the sum of its receives, and no less than its last message") {
  const CostModel model = even_machine(20, 62, 220);
  Tree star(20, 0);
  for (int core = 1; core < 20; ++core) star.children[0].push_back(core);
  const double reduction = predict(model, star).reduction;
  CHECK(reduction == 62 + 220 + 18 * 62);
  CHECK(reduction < 0.4 * 19 * 220);
}

TEST_CASE("occupancy is the measured one or the reverse send, and never more than a receive") {
  CostModel model = even_machine(2, 62, 220);
  model.send.set(1, 0, 80);
  CHECK(model.occupancy(0, 1) == 80);
  model.receive.set(0, 1, 30);
  CHECK(model.occupancy(0, 1) == 30);
  model.receive.set(0, 1, 220);
  model.overlapped = CycleMatrix(2);
  model.overlapped.set(0, 1, 45);
  CHECK(model.occupancy(0, 1) == 45);
}

// Broadcast and reduction as a list of events, without recursion over the tree.
struct Events {
  const CostModel& model;
  const Tree& tree;
  std::multimap<double, std::function<void(double)>> queue;
  std::vector<double> has_it;

  void run() {
    while (!queue.empty()) {
      const auto [at, action] = *queue.begin();
      queue.erase(queue.begin());
      action(at);
    }
  }
  void broadcast_from(int core, std::size_t next, double now) {
    if (next == 0) has_it[core] = now;
    if (next == tree.children[core].size()) return;
    const int child = tree.children[core][next];
    const double sent = now + model.send.at(core, child);
    queue.emplace(sent, [=, this](double at) { broadcast_from(core, next + 1, at); });
    queue.emplace(sent + model.receive.at(core, child), [=, this](double at) { broadcast_from(child, 0, at); });
  }
  double broadcast() {
    has_it.assign(tree.children.size(), -1);
    queue.emplace(0, [this](double at) { broadcast_from(tree.root, 0, at); });
    run();
    return *std::max_element(has_it.begin(), has_it.end());
  }
};

// The best order in which one receiver can take its messages, by trying all orders.
double dumb_reduction(const CostModel& model, const Tree& tree, int core) {
  std::vector<Arrival> arrivals;
  for (const int child : tree.children[core]) {
    arrivals.push_back(arrival_of(model, child, core, dumb_reduction(model, tree, child)));
  }
  if (arrivals.empty()) return 0;
  const auto less = [](const Arrival& a, const Arrival& b) {
    return std::pair(a.ready, a.occupancy) < std::pair(b.ready, b.occupancy);
  };
  std::sort(arrivals.begin(), arrivals.end(), less);
  double best = 1e18;
  do {
    double done = 0;
    for (const Arrival& arrival : arrivals) done = std::max(done, arrival.ready) + arrival.occupancy;
    best = std::min(best, done);
  } while (std::next_permutation(arrivals.begin(), arrivals.end(), less));
  return best;
}

TEST_CASE("predictions equal a simulation by events") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    const int cores = 2 + static_cast<int>(seed % 7);
    const CostModel model = random_machine(seed, cores);
    const Tree tree = random_tree(seed, cores);
    REQUIRE(validate(tree).ok());
    const Prediction prediction = predict(model, tree);
    Events events{model, tree, {}, {}};
    CHECK(prediction.broadcast == Approx(events.broadcast()));
    CHECK(prediction.reduction == Approx(dumb_reduction(model, tree, tree.root)));
    CHECK(prediction.barrier == Approx(prediction.broadcast + prediction.reduction));
    CHECK(prediction.agreement == Approx(2 * prediction.broadcast + prediction.reduction));
    CHECK(broadcast_arrivals(model, tree)[critical_path(model, tree).back()] == prediction.broadcast);
  }
}

TEST_CASE("no order of children beats the one by the longest way to go") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const CostModel model = random_machine(seed, 7);
    Tree ordered = random_tree(seed, 7);
    order_children(model, ordered);
    const double best = predict(model, ordered).broadcast;
    // All orders of one core at a time, then random orders of all cores.
    Prng random(seed);
    for (int i = 0; i < 300; ++i) {
      Tree other = ordered;
      for (auto& children : other.children) {
        for (std::size_t n = children.size(); n > 1; --n) std::swap(children[n - 1], children[random.below(n)]);
      }
      CHECK(predict(model, other).broadcast >= best - 1e-9);
    }
  }
}

TEST_CASE("wrong trees are refused with a sentence each") {
  const auto message = [](const Tree& tree) { return std::string(validate(tree).message()); };
  CHECK(message(Tree()) == "the tree has no core");
  CHECK(message(Tree(2, 2)) == "the tree's root is not one of its cores");
  Tree tree(4, 0);
  tree.children = {{1}, {}, {3}, {2}};
  CHECK(message(tree) == "the root reaches only 2 of the tree's 4 cores; the others are missing or form a cycle");
  tree.children = {{1, 2}, {2}, {3}, {}};
  CHECK(message(tree) == "a core of the tree has two parents, or is listed twice");
  tree.children = {{1, 2, 3}, {0}, {}, {}};
  CHECK(message(tree) == "the tree has a cycle: its root is somebody's child");
  tree.children = {{1, 4}, {}, {}, {}};
  CHECK(message(tree) == "a child is not one of the tree's cores");
  tree.children = {{1, 2, 3}, {}, {}, {}};
  CHECK(validate(tree).ok());
}

TEST_CASE("enumeration visits every tree once under each root") {
  // Cayley's formula: n^(n-2) unrooted trees; each is visited once under each root.
  for (const auto& [cores, trees] :
       {std::pair(1, 1), std::pair(2, 1), std::pair(3, 3), std::pair(4, 16), std::pair(5, 125)}) {
    std::vector<int> roots;
    for (int core = 0; core < cores; ++core) roots.push_back(core);
    std::map<std::pair<int, std::vector<int>>, int> seen;
    CHECK(for_all_trees(cores, roots, [&](Tree& tree) {
      REQUIRE(validate(tree).ok());
      ++seen[{tree.root, parents_of(tree)}];
      return true;
    }));
    CHECK(seen.size() == static_cast<std::size_t>(trees * cores));
    for (const auto& [tree, times] : seen) CHECK(times == 1);
  }
  CHECK(!for_all_trees(4, {0}, [](Tree&) { return false; }));
}

}  // namespace
}  // namespace ingot
