// Every broadcast of the simulated chip delivers every byte, for any size, group, source, k, number of concurrent
// sources and order of cores. measure_broadcast checks the bytes. More samples: INGOT_SCC_SAMPLES=1000.
#include <catch2/catch.hpp>

#include <array>
#include <cstdlib>
#include <set>
#include <string>

#include "bench/scc/measure.h"
#include "core/planning/tree_prediction.h"
#include "core/prng.h"
#include "transport/scc/broadcast/async.h"
#include "transport/scc/broadcast/neighbours.h"
#include "transport/scc/broadcast/planned_trees.h"

namespace ingot::scc {
namespace {

int samples() {
  const char* text = std::getenv("INGOT_SCC_SAMPLES");
  return text != nullptr ? std::atoi(text) : 4;
}

// Planning a tree for many cores takes longer than the broadcast; the planner has tests of its own.
bool plans(std::string_view algorithm) { return algorithm == "ingot" || algorithm == "smelt"; }

std::size_t random_bytes(Prng& random) {
  constexpr std::size_t kEdges[] = {0, 1, 2, 31, 32, 33, 63, 64, 3071, 3072, 3073, 4095, 4096, 4097, 8192, 8193, 12288};
  if (random.chance(0.6)) return kEdges[random.below(std::size(kEdges))];
  return random.below(random.chance(0.5) ? 500 : 30'000);
}

BroadcastPoint random_point(const BroadcastAlgorithm& algorithm, Prng& random) {
  BroadcastPoint point;
  point.algorithm = std::string(algorithm.name);
  point.bytes = random_bytes(random);
  point.cores = 2 + static_cast<int>(random.below(random.chance(0.25) ? 47 : 12));
  if (plans(algorithm.name)) point.cores = std::min(point.cores, 14);
  point.source = static_cast<int>(random.below(static_cast<std::uint64_t>(point.cores)));
  point.k = 1 + static_cast<int>(random.below(random.chance(0.5) ? 8 : 47));
  point.sources = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(std::min(point.cores, 5))));
  if (plans(algorithm.name)) point.sources = std::min(point.sources, 2);
  point.repetitions = 2;
  point.messages = 2;
  point.warm_caches = false;
  return point;
}

TEST_CASE("every broadcast brings every byte") {
  for (const BroadcastAlgorithm& algorithm : broadcast_algorithms()) {
    for (int i = 0; i < samples(); ++i) {
      const std::uint64_t seed = 1000 + static_cast<std::uint64_t>(i);
      Prng random(seed);
      const BroadcastPoint point = random_point(algorithm, random);
      ChipOptions options;
      options.seed = seed;
      options.jitter_core_cycles = random.chance(0.5) ? random.below(2000) : 0;
      options.start_skew_core_cycles = random.chance(0.5) ? random.below(20'000) : 0;
      if (random.chance(0.3)) options.cost_model = CostModel::kWgr;
      if (random.chance(0.3)) options.shared_type = MemoryType::kMpbTyped;
      INFO(point.algorithm << ", seed " << seed << ": " << point.bytes << " bytes, " << point.cores << " cores, source "
                           << point.source << ", k " << point.k << ", " << point.sources << " sources");
      const auto result = measure_broadcast(options, point);
      INFO(result.status().ToString());
      REQUIRE(result.ok());
      CHECK((point.bytes == 0 || result->latency_us > 0));
    }
  }
}

TEST_CASE("a message of 1 MiB arrives whole") {
  for (const BroadcastAlgorithm& algorithm : broadcast_algorithms()) {
    BroadcastPoint point{
        .algorithm = std::string(algorithm.name), .bytes = std::size_t{1} << 20, .cores = 3, .source = 1};
    point.warm_caches = false;
    const auto result = measure_broadcast({}, point);
    INFO(point.algorithm << ": " << result.status().ToString());
    REQUIRE(result.ok());
  }
}

// Different runs with the same result: measure_broadcast compares every byte.
TEST_CASE("the same seed gives the same run, and other seeds other runs with the same result") {
  for (const BroadcastAlgorithm& algorithm : broadcast_algorithms()) {
    BroadcastPoint point{.algorithm = std::string(algorithm.name), .bytes = 700, .cores = 9, .source = 7};
    point.warm_caches = false;
    point.sources = plans(algorithm.name) ? 1 : 2;
    point.repetitions = point.messages = 1;
    const auto hash = [&](std::uint64_t seed) {
      ChipOptions options;
      options.seed = seed;
      options.jitter_core_cycles = 50;
      const auto result = measure_broadcast(options, point);
      REQUIRE(result.ok());
      return result->trace_hash;
    };
    INFO(point.algorithm);
    const std::uint64_t first = hash(1);
    CHECK(hash(1) == first);
    CHECK(hash(2) != first);
  }
}

// The simple model: follows the sends, and counts how often each core is reached.
TEST_CASE("forwarding to neighbours reaches every core of any group once") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Prng random(seed);
    std::vector<int> cores;
    const double density = random.unit();
    for (int core = 0; core < kCores; ++core) {
      if (random.chance(density)) cores.push_back(core);
    }
    if (cores.empty()) continue;
    const auto group = Group::create(cores);
    REQUIRE(group.ok());
    const int source = cores[random.below(cores.size())];
    for (const Cells cells : {Cells::kCores, Cells::kTiles}) {
      for (const bool from_centre : {false, true}) {
        const Forwarding to = forward_to_neighbours(*group, source, cells, from_centre);
        std::vector<int> reached{source};
        for (std::size_t i = 0; i < reached.size() && reached.size() <= cores.size(); ++i) {
          const auto& children = to[static_cast<std::size_t>(reached[i])];
          reached.insert(reached.end(), children.begin(), children.end());
        }
        INFO("seed " << seed << ", source " << source << ", tiles " << (cells == Cells::kTiles) << ", centre "
                     << from_centre);
        CHECK(reached.size() == cores.size());
        CHECK(std::set<int>(reached.begin(), reached.end()) == std::set<int>(cores.begin(), cores.end()));
      }
    }
  }
}

TEST_CASE("planned trees are right, and short ones are short") {
  const Group group = Group::first(48);
  PlannedTrees plans(group, {});
  const auto kind = PlannedTrees::kind_of(32);
  const ::ingot::CostModel model = model_of_gets(group, {}, kind.lines);
  REQUIRE(validate(model).ok());
  const Tree& ingot = plans.ingot(5, kind);
  REQUIRE(validate(ingot).ok());
  CHECK(ingot.root == 5);
  CHECK(predict(model, ingot).broadcast <= predict(model, plans.smelt(5, kind)).broadcast);
  CHECK(predict(model, ingot).broadcast <= predict(model, k_ary_tree(group, 5, 7)).broadcast);
}

// All 48 at once, while every program computes: interrupts do the work, and no core waits for a lock.
TEST_CASE("asynchronous broadcasts of all cores proceed together") {
  for (const std::uint64_t seed : {1, 2}) {
    ChipOptions options;
    options.seed = seed;
    options.jitter_core_cycles = seed == 1 ? 0 : 300;
    auto chip = *Chip::create(options);
    const Group group = Group::first(kCores);
    constexpr std::size_t kBytes = 3500;
    std::vector<Message> messages;
    Prng random(seed);
    for (int source = 0; source < kCores; ++source) {
      const Message message{source, kBytes, private_address(static_cast<std::size_t>(source) * 4096)};
      messages.push_back(message);
      for (auto& byte : chip->private_memory(source).subspan(message.at, kBytes))
        byte = static_cast<std::byte>(random());
    }
    std::array<std::unique_ptr<AsyncBroadcast>, kCores> broadcasts;
    const absl::Status status = chip->run([&](Core& core) {
      auto& mine = broadcasts[static_cast<std::size_t>(core.id())];
      mine = std::make_unique<AsyncBroadcast>(core, group, 3);
      mine->start(messages);
      for (int i = 0; i < 100; ++i) core.compute(5000);
      mine->wait();
    });
    INFO("seed " << seed << ": " << status.ToString());
    REQUIRE(status.ok());
    for (const Message& message : messages) {
      const auto sent = chip->private_memory(message.source).subspan(message.at, kBytes);
      for (int core = 0; core < kCores; ++core) {
        const auto arrived = chip->private_memory(core).subspan(message.at, kBytes);
        CHECK(std::equal(sent.begin(), sent.end(), arrived.begin()));
      }
    }
  }
}

TEST_CASE("background traffic slows broadcasts through memory, and ends with the run") {
  BroadcastPoint point{.algorithm = "modmpb", .bytes = 20'000};
  point.warm_caches = false;
  point.repetitions = point.messages = 1;
  const auto calm = measure_broadcast({}, point);
  point.background_us = 100;
  const auto busy = measure_broadcast({}, point);
  REQUIRE(calm.ok());
  REQUIRE(busy.ok());
  CHECK(busy->latency_us > calm->latency_us);
}

TEST_CASE("points that make no sense are refused with a sentence") {
  const auto refused = [](auto change, const char* part) {
    BroadcastPoint point{.algorithm = "modmpb"};
    change(point);
    const absl::Status status = measure_broadcast({}, point).status();
    INFO(status.ToString());
    CHECK(status.code() == absl::StatusCode::kInvalidArgument);
    CHECK(std::string(status.message()).find(part) != std::string::npos);
  };
  refused([](BroadcastPoint& p) { p.algorithm = "carrier-pigeon"; }, "there is no broadcast \"carrier-pigeon\"");
  refused([](BroadcastPoint& p) { p.cores = 49; }, "the number of cores cannot be 49: 2 to 48");
  refused([](BroadcastPoint& p) { p.cores = 1; }, "2 to 48");
  refused([](BroadcastPoint& p) { p.cores = 12, p.source = 12; }, "core 12 cannot be the source: cores 0 to 11");
  refused([](BroadcastPoint& p) { p.k = 0; }, "k cannot be 0");
  refused([](BroadcastPoint& p) { p.k = 48; }, "k cannot be 48: 1 to 47");
  refused([](BroadcastPoint& p) { p.sources = 49; }, "the number of sources cannot be 49");
  refused([](BroadcastPoint& p) { p.bytes = std::size_t{64} << 20; }, "the size in bytes cannot be 67108864");
  refused([](BroadcastPoint& p) { p.bytes = 1 << 20, p.messages = 1000; }, "do not fit");
  refused([](BroadcastPoint& p) { p.background_us = -1; }, "background traffic");
}

}  // namespace
}  // namespace ingot::scc
