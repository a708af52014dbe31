// Every application gives the sequential run's result (run_app compares), whatever carries its data, with any number of
// cores in any order. More samples: INGOT_SCC_SAMPLES=1000.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/prng.h"
#include "transport/scc/apps/app.h"
#include "transport/scc/apps/communication.h"
#include "transport/scc/chip.h"

namespace ingot::scc {
namespace {

int samples() {
  const char* text = std::getenv("INGOT_SCC_SAMPLES");
  return text != nullptr ? std::atoi(text) : 1;
}

struct Work {
  const char* app;
  const char* variant;
  std::size_t size_max;
};
constexpr Work kWork[] = {{"matmul", "", 40}, {"nbody", "", 150}, {"bucketsort", "root", 3000},
                          {"bucketsort", "spread", 3000}};

std::vector<std::string> carriers() {
  std::vector<std::string> names{std::string(kPointToPoint)};
  for (const auto& each : broadcast_algorithms()) names.emplace_back(each.name);
  return names;
}

bool is_paper_version(std::string_view carrier) {
  return carrier == kPointToPoint || carrier == "rcce" || carrier == "modmpb";
}

void compare(const Work& work, const std::string& carrier, std::size_t size, int cores, std::uint64_t seed) {
  Prng random(seed);
  const AppPoint point{.app = work.app, .broadcast = carrier, .size = size, .variant = work.variant, .cores = cores};
  ChipOptions options;
  options.seed = seed;
  options.jitter_core_cycles = random.chance(0.5) ? random.below(1000) : 0;
  INFO(work.app << " " << work.variant << " by " << carrier << ", size " << size << ", " << cores << " cores, seed "
                << seed);
  const auto result = run_app(options, point);
  INFO(result.status().ToString());
  REQUIRE(result.ok());
  CHECK(result->compute_s > 0);
  CHECK(result->communicate_s > 0);
}

// The papers' three versions of each application; the other broadcasts take turns.
TEST_CASE("the parallel result is the sequential one") {
  std::uint64_t seed = 100;
  std::size_t turn = 0;
  for (int i = 0; i < samples(); ++i) {
    for (const std::string& carrier : carriers()) {
      ++turn;
      for (std::size_t work = 0; work < std::size(kWork); ++work) {
        if (!is_paper_version(carrier) && turn % std::size(kWork) != work) continue;
        Prng random(++seed);
        const std::size_t size = 1 + random.below(kWork[work].size_max);
        compare(kWork[work], carrier, size, 2 + static_cast<int>(random.below(i == 0 ? 8 : kCores - 1)), seed);
      }
    }
    ++turn;  // another broadcast's turn in the next sample
  }
}

TEST_CASE("the parallel result is the same on all cores, and with fewer items than cores") {
  for (const Work& work : kWork) {
    compare(work, "modmpb", work.size_max, kCores, 7);
    compare(work, "point-to-point", 20, 31, 8);
  }
}

// The next operation must not take the former broadcast's content of the message buffers for new data.
TEST_CASE("broadcasts and sends take turns") {
  constexpr int kMembers = 20;
  constexpr std::size_t kBytes = 1000, kPiece = 40;
  for (const std::string_view carrier : {"mpb", "oc-bcast", "oc-bcast-async"}) {
    auto chip = *Chip::create({});
    BroadcastSetup setup{.group = Group::first(kMembers), .plans = nullptr};
    REQUIRE(prepare(setup, chip->options()).ok());
    int wrong = 0;
    const auto fill = [](std::span<std::byte> at, int value) { std::fill(at.begin(), at.end(), std::byte(value)); };
    const auto holds = [](std::span<const std::byte> at, int value) {
      return std::all_of(at.begin(), at.end(), [&](std::byte b) { return b == std::byte(value); });
    };
    const absl::Status status = chip->run(setup.group.cores(), [&](Core& core) {
      Communication all(core, setup, find_broadcast(carrier));
      const auto memory = core.private_memory();
      const auto inbox = [&](int from) { return static_cast<Address>(8192 + from * 64); };
      for (int round = 1; round <= 3; ++round) {
        const int source = round * 3 % kMembers;
        if (core.id() == source) fill(memory.first(kBytes), round);
        const Message message{source, kBytes, private_address(0)};
        all.broadcast({&message, 1});
        wrong += !holds(memory.first(kBytes), round);
        fill(memory.subspan(4096, kPiece), 100 * round + core.id());
        all.exchange([&](int) { return Communication::Piece{4096, kPiece}; },
                     [&](int from, std::size_t) { return inbox(from); }, 16384);
        for (int from = 0; from < kMembers; ++from) {
          if (from != core.id()) wrong += !holds(memory.subspan(inbox(from), kPiece), 100 * round + from);
        }
      }
    });
    INFO(carrier << ": " << status.ToString());
    REQUIRE(status.ok());
    CHECK(wrong == 0);
  }
}

TEST_CASE("computation is charged by its parameter") {
  AppPoint point{.app = "matmul", .broadcast = "rcce", .size = 24, .cores = 4};
  point.cycles_per_operation = 100;
  const auto result = run_app({}, point);
  REQUIRE(result.ok());
  CHECK(result->compute_s == Approx(6.0 * 24 * 24 * 100 / 533e6));  // six rows a core
  point.cycles_per_operation = 200;
  CHECK(run_app({}, point)->compute_s == Approx(2 * result->compute_s));
}

TEST_CASE("the same seed gives the same run") {
  const AppPoint point{.app = "bucketsort", .broadcast = "modmpb", .size = 500, .variant = "spread", .cores = 6};
  const auto hash = [&](std::uint64_t seed) {
    ChipOptions options;
    options.seed = seed;
    return run_app(options, point)->trace_hash;
  };
  const auto first = hash(1);
  CHECK(hash(1) == first);
  CHECK(hash(2) != first);
}

TEST_CASE("each pair of ranks meets once, and no rank meets two at a time") {
  for (int ranks = 2; ranks <= kCores; ++ranks) {
    std::set<std::pair<int, int>> met;
    for (int round = 0; round < pair_rounds(ranks); ++round) {
      for (int rank = 0; rank < ranks; ++rank) {
        const int partner = partner_of(rank, round, ranks);
        if (partner < 0) continue;
        INFO(ranks << " ranks, round " << round << ", rank " << rank);
        REQUIRE(partner != rank);
        REQUIRE(partner < ranks);
        REQUIRE(partner_of(partner, round, ranks) == rank);
        if (rank < partner) REQUIRE(met.emplace(rank, partner).second);
      }
    }
    CHECK(met.size() == static_cast<std::size_t>(ranks * (ranks - 1) / 2));
  }
}

TEST_CASE("points that make no sense are refused with a sentence") {
  const auto refused = [](AppPoint point, const char* part) {
    const absl::Status status = run_app({}, point).status();
    INFO(status.ToString());
    CHECK(status.code() == absl::StatusCode::kInvalidArgument);
    CHECK(std::string(status.message()).find(part) != std::string::npos);
  };
  refused({.app = "chess"}, "there is no application \"chess\"");
  refused({.broadcast = "smoke"}, "there is no broadcast \"smoke\"");
  refused({.app = "nbody", .variant = "root"}, "there is no variant \"root\" of nbody");
  refused({.app = "bucketsort", .variant = "both"}, "there is no variant \"both\"");
  refused({.size = 0}, "the size cannot be 0");
  refused({.size = 2001}, "the size cannot be 2001: 1 to 2000");
  refused({.cores = 1}, "the number of cores cannot be 1");
  refused({.cores = 49}, "the number of cores cannot be 49");
  refused({.app = "nbody", .steps = 0}, "the number of steps cannot be 0");
  refused({.cycles_per_operation = 2'000'000}, "cycles per operation cannot be 2000000");
}

}  // namespace
}  // namespace ingot::scc
