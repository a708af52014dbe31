// Broadcast, reduction and allreduce over lines, on the incoherent machine: correct on any tree and under any schedule;
// and a missing order is always detected.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/prng.h"
#include "tests/seeds.h"
#include "tests/transport/incoherent_memory.h"
#include "tests/transport/random_tree.h"
#include "transport/collectives/tree_collectives.h"

using namespace ingot;
using namespace ingot::test;

namespace {

struct Looking {
  template <typename Done>
  void until(Done&& done) {
    while (!done()) {
    }
  }
  void wrote(EndpointId) {}
};

void add_words(std::span<std::byte> target, std::span<const std::byte> source) {
  auto* const to = reinterpret_cast<std::uint32_t*>(target.data());
  const auto* const from = reinterpret_cast<const std::uint32_t*>(source.data());
  for (std::size_t i = 0; i < target.size() / 4; ++i) to[i] += from[i];
}

class Run {
 public:
  Run(std::uint64_t seed, Site weakened)
      : seed_(seed),
        prng_(seed),
        cores_(1 + static_cast<int>(prng_.below(kCoresMax))),
        ring_lines_(2u << prng_.below(2)),
        tree_(random_tree(cores_, prng_)),
        machine_({cores_, tree_collectives_lines(kCoresMax - 1, ring_lines_), seed, weakened, false}) {
    for (int i = 0; i < 6; ++i) operations_.push_back({static_cast<int>(prng_.below(3)), 1 + prng_.below(40)});
    for (int core = 0; core < cores_; ++core) {
      if (prng_.chance(0.4)) machine_.stutter(core, 0.01 + 0.1 * prng_.unit(), 10 << prng_.below(7));
      machine_.start(core, [this, core] { work(core); });
    }
  }

  std::string failure() {
    machine_.run([this] { return std::accumulate(ended_.begin(), ended_.end(), 0) == cores_; });
    return machine_.failure();
  }

 private:
  struct Operation {
    int kind;
    std::size_t words;
  };

  std::uint32_t value(int core, std::size_t operation, std::size_t word) const {
    return static_cast<std::uint32_t>(seed_ * 31 + static_cast<std::uint64_t>(core) * 1009 + operation * 53 + word * 7);
  }

  void work(int core) {
    TreeCollectives<IncoherentMemory> collectives(IncoherentMemory(machine_, core), tree_, ring_lines_);
    for (std::size_t n = 0; n < operations_.size(); ++n) {
      const auto [kind, words] = operations_[n];
      std::vector<std::uint32_t> data(words);
      for (std::size_t i = 0; i < words; ++i) data[i] = value(core, n, i);
      const auto bytes = std::as_writable_bytes(std::span(data));
      if (kind == 0) collectives.broadcast(bytes, Looking());
      if (kind == 1) collectives.reduce(bytes, add_words, Looking());
      if (kind == 2) collectives.allreduce(bytes, add_words, Looking());
      if (kind == 1 && core != tree_.root) continue;  // overwritten by the operation
      for (std::size_t i = 0; i < words; ++i) {
        std::uint32_t right = value(tree_.root, n, i);
        for (int other = 0; kind != 0 && other < cores_; ++other) right += other == tree_.root ? 0 : value(other, n, i);
        if (data[i] != right) machine_.fail("a collective has a wrong result");
      }
    }
    ++ended_[static_cast<std::size_t>(core)];
  }

  const std::uint64_t seed_;
  Prng prng_;
  const int cores_;
  const std::uint32_t ring_lines_;
  const Tree tree_;
  std::vector<Operation> operations_;
  IncoherentMachine machine_;
  std::array<int, kCoresMax> ended_{};
};

}  // namespace

TEST_CASE("collectives over lines hold on incoherent memory") {
  for (const std::uint64_t seed : ingot::testing::seeds(1500)) {
    INFO("seed " << seed);
    REQUIRE(Run(seed, Site::kCount).failure() == "");
  }
}

TEST_CASE("collectives over lines need every order they name") {
  for (const Site site : {Site::kNvpNotify, Site::kNvpPoll, Site::kNvpReturnCredit, Site::kNvpTakeCredit}) {
    INFO("site " << static_cast<int>(site) << " of transport/sites.h made relaxed");
    std::uint64_t caught = 0;
    for (std::uint64_t seed = 1; seed <= 10'000 && caught == 0; ++seed) {
      if (!Run(seed, site).failure().empty()) caught = seed;
    }
    CHECK(caught != 0);
  }
}
