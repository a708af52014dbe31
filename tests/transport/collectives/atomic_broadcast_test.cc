// Atomic broadcast under random schedules: all members deliver prefixes of one sequence, through deaths, stops and
// changes of the tree.
#include "transport/collectives/atomic_broadcast.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "core/wire.h"
#include "tests/seeds.h"
#include "tests/transport/collectives/world.h"

namespace ingot::test {
namespace {

struct Delivered {
  EndpointId origin;
  std::uint64_t number;
  bool operator==(const Delivered&) const = default;
};

enum class Health { kWell, kSlow, kDead };

// A group on one thread, and the properties that must hold.
class OrderedWorld {
 public:
  OrderedWorld(std::string_view kind, std::uint64_t seed, int endpoints, std::size_t bytes_max)
      : random_(seed), fabric_(make_fabric(kind, endpoints)), bytes_max_(bytes_max), health_(size_of(endpoints)) {
    tree_ = random_ordered_tree(shuffled_endpoints(endpoints, random_));
    root_ = tree_.root().value();
    logs_.resize(size_of(endpoints));
    submitted_.resize(size_of(endpoints));
    knows_dead_.resize(size_of(endpoints) * size_of(endpoints));
    for (const EndpointId self : first_endpoints(endpoints)) {
      transports_.push_back(make_endpoint(kind, fabric_, self));
      AtomicBroadcast::Options options;
      options.group = GroupId(7);
      options.tree = tree_;
      options.deliver = [this, self](const auto& delivery) { deliver(self.value(), delivery); };
      if (random_.chance(0.3))
        options.planner = [this](const auto& tree, EndpointId dead) { return replan(tree, dead); };
      auto member = AtomicBroadcast::create(*transports_.back(), endpoints, std::move(options));
      REQUIRE(member.ok());
      members_.push_back(*std::move(member));
    }
  }

  // Runs `rounds` random steps with faults, then ends the temporary faults and delivers all messages.
  void run(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      step();
      if (random_.chance(0.3)) submit(random_.below(members_.size()));
      if (random_.chance(0.002)) fault();
      if (random_.chance(0.002)) change_tree();
      if (random_.chance(0.05)) tell_of_a_death();
    }
    for (auto& health : health_) health = health == Health::kSlow ? Health::kWell : health;
    while (tell_of_a_death()) continue;
    const int patience = 500 * static_cast<int>(members_.size());
    for (int idle = 0; idle < patience; idle = step() > 0 ? 0 : idle + 1) continue;
    check_end();
  }

  int deaths() const { return deaths_; }
  std::uint32_t epochs() const { return members_[root_]->epoch(); }

 private:
  static std::size_t size_of(int endpoints) { return static_cast<std::size_t>(endpoints); }

  OrderedTree random_ordered_tree(std::vector<EndpointId> members) {
    return {members, random_tree(random_, static_cast<int>(members.size()), 1 + random_.below(members.size()))};
  }

  // A random tree over `members` under the present root.
  OrderedTree random_tree_under_root(std::vector<EndpointId> members) {
    OrderedTree tree = random_ordered_tree(members);
    const auto root =
        std::find(tree.members.begin(), tree.members.end(), EndpointId(static_cast<std::uint16_t>(root_)));
    std::swap(*root, tree.members[static_cast<std::size_t>(tree.tree.root)]);
    return tree;
  }

  OrderedTree replan(const OrderedTree& tree, EndpointId dead) {
    auto members = tree.members;
    std::erase(members, dead);
    if (random_.chance(0.2)) return {members, Tree(1, 0)};  // invalid: the own tree is used
    return random_tree_under_root(members);
  }

  std::vector<std::byte> payload_of(EndpointId origin, std::uint64_t number) const {
    Prng random(origin.value() * 1000003ull + number);
    std::vector<std::byte> payload(random.below(random.chance(0.8) ? 60 : bytes_max_));
    for (std::byte& byte : payload) byte = static_cast<std::byte>(random());
    return payload;
  }

  int step() {
    now_ns_ += 1000;
    const auto at = random_.below(members_.size());
    return health_[at] == Health::kWell ? members_[at]->poll(now_ns_) : 0;
  }

  void submit(std::size_t at) {
    if (health_[at] != Health::kWell) return;
    const std::uint64_t expected = submitted_[at]++;  // before the call: the root may deliver, and so submit, within it
    const auto number = members_[at]->submit(payload_of(EndpointId(static_cast<std::uint16_t>(at)), expected));
    if (number.ok()) {
      MUST(*number == expected);
    } else {
      MUST((absl::IsResourceExhausted(number.status()) || members_[at]->excluded()));
      --submitted_[at];
    }
  }

  void deliver(std::size_t at, const AtomicBroadcast::Delivery& delivery) {
    auto& log = logs_[at];
    MUST(delivery.sequence == log.size());
    const auto payload = payload_of(delivery.origin, delivery.number);
    MUST(std::ranges::equal(delivery.payload, payload));
    const Delivered entry{delivery.origin, delivery.number};
    if (log.size() < longest_.size()) {
      MUST(longest_[log.size()] == entry);
    } else {
      MUST(delivery.number == next_of_origin_[delivery.origin]);  // once, and in its submitter's order
      ++next_of_origin_[delivery.origin];
      longest_.push_back(entry);
    }
    log.push_back(entry);
    if (random_.chance(0.05)) submit(at);
  }

  void fault() {
    const auto at = random_.below(members_.size());
    if (at == root_ || health_[at] == Health::kDead) return;
    if (health_[at] == Health::kSlow) {
      health_[at] = Health::kWell;
    } else if (random_.chance(0.5)) {
      health_[at] = Health::kSlow;
    } else {
      health_[at] = Health::kDead;
      ++deaths_;
    }
  }

  // Gives the root another tree, in which slow members have no children, and which sometimes omits a member.
  void change_tree() {
    std::vector<EndpointId> fast, slow;
    for (const EndpointId member : members_[root_]->tree().members) {
      (health_[member.value()] == Health::kWell ? fast : slow).push_back(member);
    }
    if (!slow.empty() && random_.chance(0.3)) slow.pop_back();
    OrderedTree tree = random_tree_under_root(fast);
    for (const EndpointId member : slow) {
      tree.tree.children[random_.below(fast.size())].push_back(static_cast<int>(tree.members.size()));
      tree.members.push_back(member);
    }
    tree.tree.children.resize(tree.members.size());
    REQUIRE(members_[root_]->change_tree(tree).ok());
  }

  // Tells one survivor of one dead endpoint; false if all know all.
  bool tell_of_a_death() {
    for (std::size_t dead = 0; dead < members_.size(); ++dead) {
      if (health_[dead] != Health::kDead) continue;
      const auto first = random_.below(members_.size());
      for (std::size_t i = 0; i < members_.size(); ++i) {
        const std::size_t at = (first + i) % members_.size();
        if (health_[at] != Health::kWell || knows_dead_[at * members_.size() + dead]) continue;
        knows_dead_[at * members_.size() + dead] = true;
        const EndpointId endpoint(static_cast<std::uint16_t>(dead));
        transports_[at]->peer_gone(endpoint);
        members_[at]->endpoint_gone(endpoint);
        return true;
      }
    }
    return false;
  }

  void check_end() const {
    const OrderedTree& tree = members_[root_]->tree();
    CHECK(members_[root_]->sequencer()->awaited().empty());
    CHECK(members_[root_]->sequencer()->waiting() == 0);
    for (std::size_t at = 0; at < members_.size(); ++at) {
      const EndpointId self(static_cast<std::uint16_t>(at));
      INFO("endpoint " << at);
      if (!tree.has(self)) continue;
      CHECK(health_[at] != Health::kDead);
      CHECK(members_[at]->epoch() == members_[root_]->epoch());
      CHECK(logs_[at].size() == longest_.size());
      const auto of_self =
          std::count_if(longest_.begin(), longest_.end(), [&](const auto& d) { return d.origin == self; });
      CHECK(static_cast<std::uint64_t>(of_self) == submitted_[at]);
    }
  }

  Prng random_;
  Fabric fabric_;
  std::size_t bytes_max_;
  std::vector<Health> health_;  // set by faults; a slow endpoint is not polled for a while
  OrderedTree tree_;
  std::size_t root_ = 0;
  std::vector<std::unique_ptr<Transport>> transports_;
  std::vector<std::unique_ptr<AtomicBroadcast>> members_;
  std::vector<std::vector<Delivered>> logs_;  // by endpoint
  std::vector<Delivered> longest_;            // the deliveries of the endpoint that is ahead
  std::map<EndpointId, std::uint64_t> next_of_origin_;
  std::vector<std::uint64_t> submitted_;
  std::vector<bool> knows_dead_;
  int deaths_ = 0;
  std::uint64_t now_ns_ = 1;
};

TEST_CASE("all members deliver the same messages in the same order, through deaths, sleeps and changes of the tree") {
  const std::string kind = GENERATE("nvp", "srbp");
  const auto range = testing::seeds(std::getenv("INGOT_LONG_TESTS") != nullptr ? 2000 : 30);
  int deaths = 0;
  std::uint32_t epochs = 0;
  for (const std::uint64_t seed : range) {
    INFO("transport " << kind << ", seed " << seed);
    Prng random(seed);
    const int endpoints = 1 + static_cast<int>(random.below(random.chance(0.2) ? 20 : 8));
    OrderedWorld world(kind, seed, endpoints, random.chance(0.2) ? 20'000 : 200);
    world.run(4000);
    deaths += world.deaths();
    epochs += world.epochs();
  }
  if (testing::one_seed_only()) return;
  CHECK(deaths > 0);  // the faults did happen
  CHECK(epochs > range.size());
}

// A root with two members under it, polled by hand.
struct Trio {
  explicit Trio(std::string_view kind) : fabric(make_fabric(kind, 3)) {
    tree.members = first_endpoints(3);
    tree.tree = Tree(3, 0);
    tree.tree.children[0] = {1, 2};
    for (const EndpointId self : tree.members) {
      transports.push_back(make_endpoint(kind, fabric, self));
      AtomicBroadcast::Options options;
      options.tree = tree;
      options.deliver = [this, self](const auto&) { ++delivered[self.value()]; };
      members.push_back(*AtomicBroadcast::create(*transports.back(), 3, std::move(options)));
    }
  }
  void settle(std::vector<std::size_t> who) {
    for (int i = 0; i < 300; ++i) {
      for (const std::size_t at : who) members[at]->poll(++now_ns);
    }
  }
  Fabric fabric;
  OrderedTree tree;
  std::vector<std::unique_ptr<Transport>> transports;
  std::vector<std::unique_ptr<AtomicBroadcast>> members;
  std::array<std::size_t, 3> delivered{};
  std::uint64_t now_ns = 1;
};

TEST_CASE("a stopped member blocks the others after one window, until it continues or is excluded") {
  const std::string kind = GENERATE("nvp", "srbp");
  const bool leave_out = GENERATE(false, true);
  Trio trio(kind);
  const auto flood = [&](std::vector<std::size_t> who) {
    for (int i = 0; i < 2000; ++i) {
      static_cast<void>(trio.members[0]->submit({}));
      static_cast<void>(trio.members[1]->submit({}));
      for (const std::size_t at : who) trio.members[at]->poll(++trio.now_ns);
    }
    trio.settle(who);
  };
  flood({0, 1});
  CHECK(trio.delivered[0] == kOrderedWindow);
  CHECK(trio.delivered[1] == kOrderedWindow);
  CHECK(trio.members[0]->sequencer()->kept() == kOrderedWindow);
  CHECK(trio.members[0]->sequencer()->waiting() == 2 * kSubmissionsMax);
  CHECK(absl::IsResourceExhausted(trio.members[1]->submit({}).status()));
  if (leave_out) {
    REQUIRE(trio.members[0]->change_tree(tree_without(trio.tree, EndpointId(2))).ok());
    flood({0, 1});
    CHECK(trio.delivered[0] > 2 * kOrderedWindow);
    const std::size_t before = trio.delivered[2];
    trio.settle({0, 1, 2});
    CHECK(trio.members[2]->excluded());
    CHECK(trio.delivered[2] <= before + kOrderedWindow);  // a prefix: the messages in flight
    CHECK(absl::IsFailedPrecondition(trio.members[2]->submit({}).status()));
  } else {
    flood({0, 1, 2});
    CHECK(trio.delivered[0] > 2 * kOrderedWindow);
    CHECK(trio.delivered[2] == trio.delivered[0]);
  }
  CHECK(trio.delivered[1] == trio.delivered[0]);
  CHECK(trio.members[0]->sequencer()->kept() < kOrderedWindow);
}

TEST_CASE("the death of the root is reported, and ends deliveries") {
  Trio trio("nvp");
  REQUIRE(trio.members[1]->submit({}).ok());
  trio.settle({0, 1, 2});
  trio.members[1]->endpoint_gone(EndpointId(0));
  CHECK(trio.members[1]->submit({}).status().message() == "endpoint 0, who orders, is dead");
  trio.settle({1, 2});
  CHECK(trio.delivered[1] == 1);
}

TEST_CASE("bad trees and messages are refused with one sentence") {
  Trio trio("nvp");
  const auto refusal = [&](std::size_t at, std::vector<EndpointId> members, Tree tree) {
    const auto status = trio.members[at]->change_tree({std::move(members), std::move(tree)});
    CHECK(trio.members[at]->epoch() == 0);
    return std::string(status.message());
  };
  Tree pair(2, 0);
  pair.children[0] = {1};
  const EndpointId root(0), one(1), two(2);
  CHECK(refusal(1, {root, one}, pair) == "only the root, endpoint 0, changes the tree");
  CHECK(refusal(0, {one, root}, pair) == "the new tree's root is endpoint 1: it must stay endpoint 0, who orders");
  CHECK(refusal(0, {root}, pair) == "the tree has 2 cores and the group 1 members: give one to each");
  CHECK(refusal(0, {root, root}, pair) == "endpoint 0 is a member twice");
  CHECK(refusal(0, {root, EndpointId(3)}, pair) ==
        "member 3 is unknown: the fabric has 3 endpoints, numbered from 0");
  CHECK(refusal(0, {root, one}, Tree(2, 0)) ==
        "the root reaches only 1 of the tree's 2 cores; the others are missing or form a cycle");
  REQUIRE(trio.members[0]->change_tree({{root, one}, pair}).ok());
  CHECK(trio.members[0]->change_tree({{root, two}, pair}).message() ==
        "endpoint 2 is not a member any more: a new tree may leave members out, not add any");
  const std::vector<std::byte> too_long(kOrderedBytesMax + 1);
  CHECK(trio.members[0]->submit(too_long).status().message() ==
        "a message of 1048577 bytes is too long: at most 1048576 are allowed");
}

TEST_CASE("invalid messages change nothing") {
  Trio trio("nvp");
  Prng random(testing::drawn_seed());
  const std::string right = encode(OrderedMessage{OrderedType::kNewEpoch, GroupId(0), 1, 0, 0, EndpointId(0), false,
                                                  encode_tree(trio.tree)});
  for (int i = 0; i < 5'000; ++i) {
    std::string noise = right;
    for (auto flips = random.below(4); flips > 0; --flips)
      noise[4 + random.below(noise.size() - 4)] ^= static_cast<char>(1 + random.below(255));
    noise[1] = static_cast<char>(random.below(9));
    noise.resize(random.chance(0.5) ? noise.size() : kOrderedHeaderBytes);
    // From a peer that is neither root nor parent: only a later epoch's message may be kept.
    trio.members[2]->receive(EndpointId(1), as_bytes(noise));
    if (noise[1] != static_cast<char>(OrderedType::kSubmit)) trio.members[0]->receive(EndpointId(7), as_bytes(noise));
  }
  CHECK(trio.delivered[0] + trio.delivered[2] == 0);
  CHECK(trio.members[0]->epoch() == 0);
  CHECK(trio.members[2]->epoch() == 0);
  CHECK(trio.members[0]->dropped() > 0);
}

}  // namespace
}  // namespace ingot::test
