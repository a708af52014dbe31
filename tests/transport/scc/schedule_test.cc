// The same seed gives the same run; other seeds give other runs and the same results.
#include "tests/transport/scc/make_chip.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

#include "core/prng.h"

using namespace ingot;
using namespace ingot::scc;
using namespace ingot::test;

namespace {

struct Run {
  std::uint64_t hash;
  Picoseconds took;
  std::uint64_t accesses;
  std::vector<std::uint32_t> result;
};

// All cores pass numbers round a ring through flags, copy lines to one crowded MPB, and add to a sum under a lock.
Run play(const ChipOptions& options) {
  const auto chip = make_chip(options);
  Run run{0, 0, 0, std::vector<std::uint32_t>(kCores + 1)};
  const Address sum = mpb_address(30, 0);
  const absl::Status status = chip->run([&](Core& core) {
    const int next = (core.id() + 1) % kCores;
    for (std::uint32_t round = 1; round <= 5; ++round) {
      core.store<std::uint32_t>(mpb_address(next, 32), round);
      core.flush_wcb();
      core.wait_value<std::uint32_t>(mpb_address(core.id(), 32), [&](std::uint32_t v) { return v >= round; });
      core.copy(mpb_address(20, 1024), private_address(4096), 256);
      core.lock(13);
      core.invalidate_mpb();
      core.store<std::uint32_t>(sum, core.load<std::uint32_t>(sum) + round * static_cast<std::uint32_t>(core.id()));
      core.flush_wcb();
      core.unlock(13);
    }
  });
  REQUIRE(status.ok());
  run.hash = chip->trace_hash();
  run.took = chip->now_ps();
  run.accesses = chip->statistics().accesses();
  for (int i = 0; i < kCores; ++i) std::memcpy(&run.result[i], chip->mpb(i).data() + 32, sizeof(std::uint32_t));
  std::memcpy(&run.result[kCores], chip->mpb(30).data(), sizeof(std::uint32_t));
  return run;
}

}  // namespace

TEST_CASE("the same options give the same run, bit for bit") {
  const CostModel model = GENERATE(CostModel::kLogP, CostModel::kWgr);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const ChipOptions options{
        .cost_model = model, .seed = seed, .start_skew_core_cycles = 500, .jitter_core_cycles = 30};
    const Run first = play(options), again = play(options);
    CHECK(first.hash == again.hash);
    CHECK(first.took == again.took);
    CHECK(first.accesses == again.accesses);
    CHECK(first.result == again.result);
  }
}

TEST_CASE("seeds give different interleavings and one result") {
  const std::uint64_t jitter = GENERATE(0, 50);
  std::set<std::uint64_t> hashes;
  const Run first = play({.seed = 1, .jitter_core_cycles = jitter});
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Run run = play({.seed = seed, .jitter_core_cycles = jitter});
    hashes.insert(run.hash);
    CHECK(run.result == first.result);
  }
  for (int i = 0; i < kCores; ++i) CHECK(first.result[i] == 5);
  CHECK(first.result[kCores] == 15 * (kCores * (kCores - 1) / 2));
  CHECK(hashes.size() == 10);
}

TEST_CASE("the seed decides the order of accesses at one time") {
  std::set<std::uint32_t> winners;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto chip = make_chip({.seed = seed});
    // Four cores at the same distance from a register, at the same time.
    const std::vector<int> cores{0, 1, 24, 25};
    on_cores(*chip, cores, [&](Core& core) {
      if (core.test_and_set(12)) winners.insert(static_cast<std::uint32_t>(core.id()));
    });
  }
  CHECK(winners.size() == 4);
}

// The simple model: all accesses to one word, sorted by the time at which the controller served them, applied to a
// variable.
TEST_CASE("effects happen in the order of virtual time") {
  struct Seen {
    Picoseconds served;
    bool write;
    std::uint32_t value;
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto chip = make_chip({.seed = seed, .start_skew_core_cycles = 300, .jitter_core_cycles = 40});
    std::vector<Seen> seen;
    CHECK(chip->run([&](Core& core) {
      Prng prng(seed * 100 + static_cast<std::uint64_t>(core.id()));
      const Picoseconds word = core.costs().copy_words[1];
      const Picoseconds reply = core.costs().memory.reply[routers(tile_of(core.id()), controller_tile(0))];
      for (std::uint32_t n = 1; n <= 30; ++n) {
        core.compute(prng.below(500));
        if (prng.chance(0.5)) {
          const auto value = static_cast<std::uint32_t>(core.id()) << 16 | n;
          core.store<std::uint32_t>(shared_address(0), value);
          seen.push_back({core.now_ps() - reply, true, value});
        } else {
          const auto value = core.load<std::uint32_t>(shared_address(0));
          seen.push_back({core.now_ps() - word - reply, false, value});
        }
      }
    }).ok());
    std::sort(seen.begin(), seen.end(), [](const Seen& a, const Seen& b) { return a.served < b.served; });
    std::uint32_t memory = 0;
    for (const Seen& each : seen) {
      if (!each.write) CHECK(each.value == memory);
      if (each.write) memory = each.value;
    }
    CHECK(seen.size() == 30 * kCores);
  }
}

TEST_CASE("private work runs ahead without a switch, and delays no other core") {
  const auto chip = make_chip();
  const std::vector<int> cores{0, 47};
  std::vector<int> order;
  on_cores(*chip, cores, [&](Core& core) {
    core.compute(core.id() == 0 ? 1'000'000 : 10);
    core.store<std::uint32_t>(shared_address(0), 1);
    order.push_back(core.id());
  });
  CHECK(order == std::vector<int>{47, 0});
}

TEST_CASE("runs follow one another in time, and two chips do not mix") {
  const auto one = make_chip(), two = make_chip();
  on_core(*one, 0, [](Core& core) { core.compute(1000); });
  const Picoseconds between = one->now_ps();
  on_core(*two, 0, [&](Core& core) {
    CHECK(core.now_ps() == 0);
    // A chip inside a program of another chip: each has its own stacks and time.
    on_core(*one, 5, [&](Core& other) {
      CHECK(other.now_ps() == between);
      other.store<std::uint32_t>(mpb_address(5, 0), 3);
      other.flush_wcb();
    });
    core.store<std::uint32_t>(mpb_address(6, 0), 3);
  });
  CHECK(one->now_ps() > between);
}
