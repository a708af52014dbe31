// Gather, scatter, allgather and all-to-all against their definitions, on random trees of some of the endpoints.
#include "transport/collectives/exchanges.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>

#include "tests/seeds.h"
#include "tests/transport/collectives/world.h"

namespace ingot::test {
namespace {

using Bytes = std::vector<std::byte>;

// One operation. Memory is by member.
struct Exchange {
  enum class Kind { kGather, kScatter, kAllgather, kAllToAll };
  Kind kind = Kind::kGather;
  MemberGroup group;
  bool in_place = false;  // own blocks lie in the memory for all
  std::size_t block_bytes = 0;
  std::vector<Bytes> from, to;    // what a member gives and gets
  std::vector<Bytes> expected;    // of `to`
  std::vector<Schedule> schedules;

  std::size_t members() const { return group.members.size(); }
  std::size_t root() const { return static_cast<std::size_t>(group.tree.root); }
};

Bytes block_of(const Bytes& all, std::size_t i, std::size_t bytes) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i * bytes);
  return Bytes(begin, begin + static_cast<std::ptrdiff_t>(bytes));
}

void put(Bytes& all, std::size_t i, const Bytes& block) {
  std::copy(block.begin(), block.end(), all.begin() + static_cast<std::ptrdiff_t>(i * block.size()));
}

// Fills the memory and computes the result.
void fill(Exchange& e, Prng& random) {
  using enum Exchange::Kind;
  const std::size_t all = e.members() * e.block_bytes;
  for (std::size_t i = 0; i < e.members(); ++i) {
    const bool root = i == e.root();
    const bool gives_all = e.kind == kAllToAll || (e.kind == kScatter && root);
    const bool gets_all = e.kind == kAllToAll || e.kind == kAllgather || (e.kind == kGather && root);
    e.from.emplace_back(gives_all ? all : e.kind == kScatter ? 0 : e.block_bytes);
    e.to.emplace_back(gets_all ? all : e.kind == kScatter ? e.block_bytes : 0);
    for (std::byte& byte : e.from.back()) byte = static_cast<std::byte>(random());
  }
  e.expected = e.to;
  for (std::size_t i = 0; i < e.members(); ++i) {
    for (std::size_t j = 0; j < e.members(); ++j) {
      if (e.kind == kAllToAll) put(e.expected[j], i, block_of(e.from[i], j, e.block_bytes));
      if (e.kind == kAllgather || (e.kind == kGather && j == e.root())) put(e.expected[j], i, e.from[i]);
    }
    if (e.kind == kScatter) e.expected[i] = block_of(e.from[e.root()], i, e.block_bytes);
  }
}

absl::StatusOr<Schedule> make(Exchange& e, std::size_t i) {
  const EndpointId self = e.group.members[i];
  const auto place = [&](Bytes& all) { return std::span(all).subspan(i * e.block_bytes, e.block_bytes); };
  switch (e.kind) {
    case Exchange::Kind::kScatter:
      if (e.in_place && i == e.root()) {
        e.to[i].clear();
        e.expected[i].clear();
        return make_scatter(e.group, self, e.from[i], place(e.from[i]));
      }
      return make_scatter(e.group, self, e.from[i], e.to[i]);
    case Exchange::Kind::kAllToAll:
      return make_all_to_all(e.group, self, e.from[i], e.to[i]);
    default:
      break;
  }
  std::span<const std::byte> own = e.from[i];
  if (e.in_place && !e.to[i].empty()) {
    put(e.to[i], i, e.from[i]);
    own = place(e.to[i]);
  }
  return e.kind == Exchange::Kind::kGather ? make_gather(e.group, self, own, e.to[i])
                                           : make_allgather(e.group, self, own, e.to[i]);
}

std::unique_ptr<Exchange> random_exchange(Prng& random, int endpoints) {
  auto e = std::make_unique<Exchange>();
  e->kind = static_cast<Exchange::Kind>(random.below(4));
  const int members = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(endpoints)));
  e->group.tree = random_tree(random, members, 1 + random.below(static_cast<std::uint64_t>(members)));
  e->group.members = shuffled_endpoints(endpoints, random);
  e->group.members.resize(static_cast<std::size_t>(members));
  e->group.endpoints = endpoints;
  e->in_place = random.chance(0.4);
  e->block_bytes = random.chance(0.5)    ? random.below(40)
                   : random.chance(0.9) ? kOneCopyBytes - 20 + random.below(40)
                                        : 2 * kChunkBytes - 5 + random.below(10);
  fill(*e, random);
  std::vector<const Schedule*> all;
  for (std::size_t i = 0; i < e->members(); ++i) {
    auto schedule = make(*e, i);
    REQUIRE(schedule.ok());
    e->schedules.push_back(*std::move(schedule));
  }
  for (const Schedule& schedule : e->schedules) all.push_back(&schedule);
  REQUIRE(check_fit(all).ok());
  return e;
}

// Each operation in a group of its own: all its members start it at random moments, others do not know it.
void run_random(std::string_view kind, std::uint64_t seed) {
  Prng random(seed);
  const int endpoints = 1 + static_cast<int>(random.below(9));
  std::vector<std::size_t> offered_bytes;
  const bool offers = random.chance(0.6);
  for (int i = 0; offers && i < endpoints; ++i) offered_bytes.push_back(random.chance(0.8) ? 1 + random.below(500) : 0);
  World world(kind, endpoints, random(), offered_bytes);
  for (std::uint16_t number = 0; number < 12; ++number) {
    const auto e = random_exchange(random, endpoints);
    std::vector<bool> started(e->members());
    const bool ended = world.run_until([&] {
      const auto i = random.below(started.size());
      if (!started[i] && random.chance(0.3)) {
        MUST(world.engine(e->group.members[i].value()).start(GroupId(number), e->schedules[i]).ok());
        started[i] = true;
      }
      return std::all_of(e->schedules.begin(), e->schedules.end(), [](const Schedule& s) { return s.done(); });
    });
    REQUIRE(ended);
    INFO("kind " << static_cast<int>(e->kind) << ", " << e->members() << " members, blocks of " << e->block_bytes);
    for (std::size_t i = 0; i < e->members(); ++i) CHECK((e->to[i] == e->expected[i]));
    for (int i = 0; i < endpoints; ++i) {
      CHECK(world.engine(i).counters().stray == 0);
      world.engine(i).retire(GroupId(number));
    }
  }
}

TEST_CASE("random exchanges bring each block where it belongs") {
  const std::string kind = GENERATE("nvp", "srbp");
  for (const std::uint64_t seed : testing::seeds(std::getenv("INGOT_LONG_TESTS") != nullptr ? 2000 : 30)) {
    INFO("transport " << kind << ", seed " << seed);
    run_random(kind, seed);
  }
}

TEST_CASE("exchanges with memory of a wrong length are refused") {
  Tree tree(2, 0);
  tree.children[0] = {1};
  const MemberGroup group{tree, first_endpoints(2), 2};
  Bytes one(8), two(16), three(24);
  const EndpointId root(0), leaf(1);
  CHECK(make_gather(group, root, one, three).status().message() ==
        "the memory for all blocks has 24 bytes, where 16 are needed");
  CHECK(make_gather(group, leaf, one, two).status().message() ==
        "the memory for all blocks has 16 bytes, where 0 are needed");
  CHECK(absl::IsInvalidArgument(make_scatter(group, root, one, one).status()));
  CHECK(absl::IsInvalidArgument(make_allgather(group, leaf, one, one).status()));
  CHECK(absl::IsInvalidArgument(make_all_to_all(group, leaf, one, two).status()));
  CHECK(absl::IsInvalidArgument(make_all_to_all(group, leaf, three, three).status()) == false);
  CHECK(absl::IsInvalidArgument(make_gather(group, EndpointId(2), one, {}).status()));
  const std::span<const std::byte> huge(one.data(), kCollectiveBytesMax / 2 + 1);
  CHECK(make_gather(group, leaf, huge, {}).status().message() ==
        "a collective cannot carry 2 blocks of 134217729 bytes: at most 268435456 are allowed together");
  CHECK(make_gather(group, leaf, one, {}).ok());
  CHECK(make_gather(group, root, one, two).ok());
}

}  // namespace
}  // namespace ingot::test
