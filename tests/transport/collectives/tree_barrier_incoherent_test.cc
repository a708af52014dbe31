// The tree barrier on the incoherent machine: with every order in place it separates accesses before it from those
// after it, on any tree and under any schedule; and a missing order is always detected.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "core/prng.h"
#include "tests/seeds.h"
#include "tests/transport/incoherent_memory.h"
#include "tests/transport/random_tree.h"
#include "transport/collectives/tree_barrier.h"

using namespace ingot;
using namespace ingot::test;

namespace {

// Two lines of payload that each core writes in turn, after the lines of the barrier.
constexpr std::uint32_t kPayloadLine = tree_barrier_lines(kCoresMax - 1);
constexpr std::uint32_t kInboxLines = kPayloadLine + 2;

// Polls; the machine decides which core runs next. Sometimes gives up, if a test asks for it.
struct Looking {
  template <typename Done>
  void until(Done&& done) {
    while (!done()) {
      if (give_up && random->chance(0.02)) return;
    }
  }
  void wrote(EndpointId) {}

  bool give_up = false;
  Prng* random = nullptr;
};

class Run {
 public:
  Run(std::uint64_t seed, Site weakened, bool give_up)
      : prng_(seed),
        cores_(1 + static_cast<int>(prng_.below(kCoresMax))),
        rounds_(3 + static_cast<std::uint32_t>(prng_.below(8))),
        start_(prng_.chance(0.5) ? Word(0) - static_cast<Word>(prng_.below(8)) : 0),
        tree_(random_tree(cores_, prng_)),
        give_up_(give_up),
        machine_({cores_, kInboxLines, seed, weakened, false}) {
    for (int core = 0; core < cores_; ++core) {
      IncoherentMemory memory(machine_, core);
      for (std::uint32_t line = 0; line < kPayloadLine; ++line) {
        machine_.preset(memory.line(memory.self(), line), start_);
      }
      if (prng_.chance(0.4)) machine_.stutter(core, 0.01 + 0.1 * prng_.unit(), 10 << prng_.below(7));
      machine_.start(core, [this, core] { work(core); });
    }
  }

  std::string failure() {
    machine_.run([this] {
      return std::all_of(passed_.begin(), passed_.begin() + cores_, [this](auto n) { return n == rounds_; });
    });
    return machine_.failure();
  }

 private:
  void work(int core) {
    IncoherentMemory memory(machine_, core);
    TreeBarrier<IncoherentMemory> barrier(memory, tree_, 0, start_);
    Prng random(static_cast<std::uint64_t>(core) + 99);
    for (std::uint32_t round = 1; round <= rounds_; ++round) {
      // This payload line was last read two barriers ago.
      memory.copy_in(payload(memory, core, round), 0, std::as_bytes(std::span(&round, 1)));
      barrier.wait(Looking{give_up_, &random});
      for (int other = 0; other < cores_; ++other) {
        std::uint32_t seen = 0;
        memory.copy_out(payload(memory, other, round), 0, reinterpret_cast<std::byte*>(&seen), sizeof seen);
        if (seen != round) machine_.fail("left the barrier before everybody had come");
      }
      ++passed_[static_cast<std::size_t>(core)];
    }
    if (barrier.epoch() != start_ + rounds_) machine_.fail("the epoch does not count the barriers");
  }

  static IncoherentMemory::Line payload(IncoherentMemory& memory, int core, std::uint32_t round) {
    return memory.line(EndpointId(static_cast<std::uint16_t>(core)), kPayloadLine + round % 2);
  }

  Prng prng_;
  const int cores_;
  const std::uint32_t rounds_;
  const Word start_;  // in half of the runs epochs soon wrap around
  const Tree tree_;
  const bool give_up_;
  IncoherentMachine machine_;
  std::array<std::uint32_t, kCoresMax> passed_{};
};

std::uint64_t seed_that_catches(Site weakened, bool give_up = false) {
  constexpr std::uint64_t kSeedsMax = 10'000;
  for (std::uint64_t seed = 1; seed <= kSeedsMax; ++seed) {
    if (!Run(seed, weakened, give_up).failure().empty()) return seed;
  }
  return 0;
}

}  // namespace

TEST_CASE("the tree barrier holds on incoherent memory") {
  for (const std::uint64_t seed : ingot::testing::seeds(3000)) {
    INFO("seed " << seed);
    REQUIRE(Run(seed, Site::kCount, false).failure() == "");
  }
}

TEST_CASE("the tree barrier needs every order it names") {
  for (int site = static_cast<int>(Site::kBarrierArrive); site <= static_cast<int>(Site::kBarrierLeave); ++site) {
    INFO("site " << site << " of transport/sites.h made relaxed");
    REQUIRE(order_of(static_cast<Site>(site)) != Order::kRelaxed);
    CHECK(seed_that_catches(static_cast<Site>(site)) != 0);
  }
}

TEST_CASE("a participant that does not wait is detected") { CHECK(seed_that_catches(Site::kCount, true) != 0); }
