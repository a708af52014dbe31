// Broadcasts by trees against a simple model: through changes of trees and deaths, each replica gets each of a root's
// messages at most once and in the root's order; without deaths and drops, only messages overtaken by newer ones are
// missing, and these are counted.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <set>

#include "core/prng.h"
#include "core/wire.h"
#include "replication/agreement/agreement.h"
#include "replication/replica/trees/combiner.h"
#include "replication/replica/trees/limits.h"
#include "replication/replica/trees/plan.h"
#include "replication/replica/trees/relay.h"
#include "tests/seeds.h"

namespace ingot {
namespace {

int budget(int small) {
  const char* large = std::getenv("INGOT_LONG_TESTS");
  return large != nullptr ? 50 * small : small;
}

EndpointId id(int replica) { return EndpointId(static_cast<std::uint16_t>(replica)); }

// A tree set with random trees for all roots.
TreeSet random_trees(int replicas, std::uint32_t version, Prng& prng) {
  TreeSet set;
  set.version = version;
  set.slowdown.resize(static_cast<std::size_t>(replicas), 1);
  for (int root = 0; root < replicas; ++root) {
    std::vector<int> order{root};
    Tree tree(replicas, root);
    for (int i = 0; i < replicas; ++i) {
      if (i == root) continue;
      tree.children[order[prng.below(order.size())]].push_back(i);
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(prng.below(order.size() + 1)), i);
    }
    set.trees.emplace_back(std::move(tree));
  }
  return set;
}

// Replicas that consist of relays only, with FIFO links and random delivery between links.
class Network {
 public:
  struct Node {
    std::unique_ptr<TreeTable> table;
    std::unique_ptr<Relay> relay;
    std::map<int, std::vector<std::uint64_t>> got;  // by root
    bool alive = true;
    std::size_t changes = 0;
  };

  Network(int replicas, std::size_t link_capacity, Prng& prng)
      : prng_(prng), capacity_(link_capacity), nodes_(static_cast<std::size_t>(replicas)) {
    const TreeSet first = random_trees(replicas, 0, prng);
    for (int i = 0; i < replicas; ++i) {
      nodes_[i].table = std::make_unique<TreeTable>(first);
      nodes_[i].relay = std::make_unique<Relay>(id(i), Incarnation(1), *nodes_[i].table);
    }
  }

  int size() const { return static_cast<int>(nodes_.size()); }
  Node& at(int node) { return nodes_[node]; }
  std::uint64_t dropped() const { return dropped_; }
  // Messages that a relay got from their root after it had forgotten their tree. It does not count these as not
  // forwarded, since it cannot tell them from those of a root without a tree, which sends to all replicas.
  std::uint64_t uncounted() const { return uncounted_; }
  const std::map<int, std::uint64_t>& sent() const { return sent_; }

  void agree_on_new_trees() {
    changes_.push_back(encode(random_trees(size(), static_cast<std::uint32_t>(changes_.size()) + 1, prng_)));
  }

  void apply_next_change(int node) {
    Node& here = nodes_[node];
    if (here.changes == changes_.size()) return;
    REQUIRE(here.table->apply(changes_[here.changes++]));
    here.relay->table_changed([&](EndpointId to, std::string_view bytes) { send(node, to, bytes); });
  }

  void broadcast(int node) {
    const std::string message = WireWriter().u64(++sent_[node]).take();
    nodes_[node].relay->broadcast(as_bytes(message),
                                  [&](EndpointId to, std::string_view bytes) { send(node, to, bytes); });
  }

  // Delivers the oldest message of a random link. Returns false if all links are empty.
  bool step() {
    if (links_.empty()) return false;
    auto link = std::next(links_.begin(), static_cast<std::ptrdiff_t>(prng_.below(links_.size())));
    const auto [from, to] = link->first;
    const std::string bytes = std::move(link->second.front());
    link->second.pop_front();
    if (link->second.empty()) links_.erase(link);
    Node& node = nodes_[to];
    if (!node.alive) return true;
    if (from_root_by_forgotten_tree(from, bytes, *node.table)) ++uncounted_;
    node.relay->receive(
        id(from), bytes, [&, to = to](EndpointId next, std::string_view copy) { send(to, next, copy); },
        [&](EndpointId root, std::string_view message) {
          node.got[root.value()].push_back(WireReader(message).u64());
        });
    return true;
  }

 private:
  static bool from_root_by_forgotten_tree(int from, std::string_view bytes, const TreeTable& table) {
    WireReader in(bytes.substr(1));
    const int root = in.u8();
    in.u16();
    const std::uint32_t version = in.u32();
    return root == from && version < table.version() && table.find(version, root) == nullptr;
  }

  void send(int from, EndpointId to, std::string_view bytes) {
    auto& link = links_[{from, static_cast<int>(to.value())}];
    if (link.size() >= capacity_) {
      ++dropped_;
      return;
    }
    link.emplace_back(bytes);
  }

  Prng& prng_;
  std::size_t capacity_;
  std::vector<Node> nodes_;
  std::vector<std::string> changes_;
  std::map<std::pair<int, int>, std::deque<std::string>> links_;
  std::map<int, std::uint64_t> sent_;
  std::uint64_t dropped_ = 0;
  std::uint64_t uncounted_ = 0;
};

struct Faults {
  bool changes = false;
  bool deaths = false;
  std::size_t link_capacity = 1'000'000;
};

void require_once_and_in_order(Network& network) {
  for (int receiver = 0; receiver < network.size(); ++receiver) {
    for (const auto& [root, got] : network.at(receiver).got) {
      CAPTURE(receiver, root);
      REQUIRE(got.size() <= network.sent().at(root));
      for (std::size_t i = 1; i < got.size(); ++i) REQUIRE(got[i - 1] < got[i]);
    }
  }
}

void run(std::uint64_t seed, const Faults& faults) {
  Prng prng(seed);
  const int replicas = 3 + static_cast<int>(prng.below(12));
  CAPTURE(seed, replicas, faults.changes, faults.deaths, faults.link_capacity);
  Network network(replicas, faults.link_capacity, prng);
  for (int i = 0; i < 600; ++i) {
    const int node = static_cast<int>(prng.below(static_cast<std::uint64_t>(replicas)));
    if (network.at(node).alive && prng.chance(0.2)) network.broadcast(node);
    if (faults.changes && prng.chance(0.02)) network.agree_on_new_trees();
    if (prng.chance(0.1)) network.apply_next_change(node);
    if (faults.deaths && prng.chance(0.003)) network.at(node).alive = false;
    for (int steps = static_cast<int>(prng.below(8)); steps > 0; --steps) network.step();
  }
  for (int node = 0; node < replicas; ++node) {
    for (int i = 0; i < 40; ++i) network.apply_next_change(node);
  }
  while (network.step()) {
  }
  require_once_and_in_order(network);
  if (faults.deaths || network.dropped() > 0) return;
  std::uint64_t sent = 0, got = 0, late = 0, unforwarded = 0;
  for (const auto& [root, count] : network.sent()) sent += count;
  for (int node = 0; node < replicas; ++node) {
    for (const auto& [root, numbers] : network.at(node).got) got += numbers.size();
    const Relay::Counts& counts = network.at(node).relay->counts();
    late += counts.late;
    unforwarded += counts.unforwarded;
    REQUIRE(counts.refused == 0);
  }
  if (unforwarded + network.uncounted() == 0) REQUIRE(got + late == sent * static_cast<std::uint64_t>(replicas - 1));
  if (!faults.changes) REQUIRE(late + unforwarded + network.uncounted() == 0);
}

}  // namespace

TEST_CASE("fixed trees: all get every message once, in order") {
  for (const std::uint64_t seed : testing::seeds(budget(60))) run(seed, {});
}

TEST_CASE("trees that change: nothing twice, nothing out of order, nothing lost but what was overtaken") {
  for (const std::uint64_t seed : testing::seeds(budget(150))) run(seed, {.changes = true});
}

TEST_CASE("trees that change, replicas that die, links that are full: nothing twice, nothing out of order") {
  for (const std::uint64_t seed : testing::seeds(budget(150))) {
    run(seed, {.changes = true, .deaths = true, .link_capacity = 4});
  }
}

TEST_CASE("a restarted root begins anew, and messages of its former incarnation are late") {
  Prng prng(testing::drawn_seed());
  const TreeTable table(random_trees(3, 0, prng));
  Relay first(id(0), Incarnation(1), table), second(id(0), Incarnation(2), table),
      receiver(id(1), Incarnation(1), table);
  std::vector<std::string> got;
  const auto give = [&](Relay& root, const std::string& text) {
    std::string frame;
    root.broadcast(as_bytes(text), [&](EndpointId, std::string_view bytes) { frame = bytes; });
    return frame;
  };
  const auto take = [&](const std::string& frame) {
    const int parent = table.current().of(0)->parent[1];
    receiver.receive(
        id(parent), frame, [](EndpointId, std::string_view) {},
        [&](EndpointId, std::string_view message) { got.emplace_back(message); });
  };
  const std::string a = give(first, "a"), b = give(first, "b"), c = give(second, "c");
  take(a);
  take(c);
  take(b);
  take(c);
  REQUIRE(got == std::vector<std::string>{"a", "c"});
  REQUIRE(receiver.counts().late == 2);
}

TEST_CASE("messages that wait for an unknown tree are bounded, and handled later") {
  Prng prng(testing::drawn_seed());
  const TreeSet later = random_trees(4, 1, prng);
  const TreeTable known(random_trees(4, 0, prng));
  TreeTable ahead(random_trees(4, 0, prng));
  REQUIRE(ahead.apply(encode(later)));
  Relay root(id(0), Incarnation(1), ahead), receiver(id(1), Incarnation(1), known);
  int handled = 0;
  for (int i = 0; i < kHeldMessagesMax + 10; ++i) {
    std::string frame;
    root.broadcast(as_bytes("x"), [&](EndpointId, std::string_view bytes) { frame = bytes; });
    receiver.receive(
        id(0), frame, [](EndpointId, std::string_view) { FAIL("the tree is not known"); },
        [&](EndpointId, std::string_view) { ++handled; });
  }
  REQUIRE(handled == kHeldMessagesMax + 10);
  REQUIRE(receiver.counts().unforwarded == 10);
}

TEST_CASE("whatever bytes arrive, a relay and a combiner refuse or pass them on") {
  const std::uint64_t seed = testing::drawn_seed();
  CAPTURE(seed);
  Prng prng(seed);
  const TreeTable table(random_trees(9, 0, prng));
  Relay relay(id(3), Incarnation(1), table);
  AnswerCombiner combiner(id(3), table);
  const auto to_replica = [](EndpointId to, std::string_view) { REQUIRE(to.value() < 9); };
  for (int i = 0; i < budget(20'000); ++i) {
    std::string bytes(1 + prng.below(40), '\0');
    for (char& byte : bytes) byte = static_cast<char>(prng.chance(0.5) ? prng.below(10) : prng.below(256));
    const EndpointId from = id(static_cast<int>(prng.below(9)));
    relay.receive(from, bytes, to_replica, to_replica);
    combiner.receive(bytes, to_replica, to_replica);
    if (prng.chance(0.01)) combiner.tick(to_replica);
  }
}

TEST_CASE("each answer reaches the root once, and equal ones mostly as one") {
  const std::uint64_t seed = GENERATE(from_range(testing::seeds(20)));
  Prng prng(seed);
  const int replicas = 3 + static_cast<int>(prng.below(45));
  CAPTURE(seed, replicas);
  TreePlan plan{.replicas = replicas, .voters = 1, .shape = "two-level"};
  const TreeTable table(plan_trees(plan, {}));
  std::vector<AnswerCombiner> nodes;
  for (int i = 0; i < replicas; ++i) nodes.emplace_back(id(i), table);
  std::deque<std::pair<int, std::pair<int, std::string>>> in_flight;  // to, from, bytes
  std::map<std::pair<int, std::string>, int> got;                     // from, answer
  int reached_root = 0;
  const auto sender = [&](int from) {
    return [&, from](EndpointId to, std::string_view bytes) {
      in_flight.push_back({to.value(), {from, std::string(bytes)}});
    };
  };
  const int rounds = 5;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 1; i < replicas; ++i) nodes[i].answer(id(0), "answer " + std::to_string(round), sender(i));
    while (!in_flight.empty()) {
      auto [to, rest] = in_flight.front();
      in_flight.pop_front();
      if (to == 0) ++reached_root;
      if (static_cast<MessageClass>(rest.second.front()) != MessageClass::kCombined) {
        ++got[{rest.first, rest.second}];
        continue;
      }
      REQUIRE(nodes[to].receive(rest.second, sender(to), [&](EndpointId from, std::string_view answer) {
        ++got[{from.value(), std::string(answer)}];
      }));
    }
  }
  REQUIRE(got.size() == static_cast<std::size_t>(rounds * (replicas - 1)));
  for (const auto& [what, times] : got) REQUIRE(times == 1);
  REQUIRE(reached_root == rounds * static_cast<int>(table.current().of(0)->tree.children[0].size()));
  for (const AnswerCombiner& node : nodes) REQUIRE_FALSE(node.wants_tick());
}

TEST_CASE("an answer does not wait for one that never comes") {
  const TreePlan plan{.replicas = 12, .voters = 1, .shape = "binary"};
  const TreeTable table(plan_trees(plan, {}));
  int inner = 0;
  for (int i = 1; i < 12; ++i) {
    if (table.current().of(0)->inner(i)) inner = i;
  }
  REQUIRE(inner > 0);
  AnswerCombiner node(id(inner), table);
  int sent = 0;
  const auto count = [&](EndpointId, std::string_view) { ++sent; };
  node.answer(id(0), "yes", count);
  REQUIRE(node.wants_tick());
  for (int tick = 0; tick <= kCombineTicks; ++tick) node.tick(count);
  REQUIRE(sent == 1);
  REQUIRE_FALSE(node.wants_tick());
  for (int i = 0; i < 2 * kCombinedAnswersMax; ++i) node.answer(id(0), "different " + std::to_string(i), count);
  REQUIRE(sent == 1 + kCombinedAnswersMax);
}

}  // namespace ingot
