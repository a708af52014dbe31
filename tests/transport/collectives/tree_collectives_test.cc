// Collectives over lines between threads of this machine, on any tree, spinning and sleeping.
#include <catch2/catch.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "core/prng.h"
#include "tests/transport/random_tree.h"
#include "transport/collectives/tree_collectives.h"
#include "transport/host/host_memory.h"
#include "transport/host/thread_waiting.h"

using namespace ingot;
using namespace ingot::test;

namespace {

constexpr std::uint32_t kRingLines = 16;

struct alignas(64) HostLine {
  std::byte bytes[64]{};
};

struct Party {
  Party(int threads, std::uint64_t seed, const ThreadWaitOptions& wait_options)
      : options(wait_options), prng(seed), tree(random_tree(threads, prng)),
        words(static_cast<std::size_t>(threads), options.sleepers_fence) {
    for (const auto& children : tree.children) {
      inboxes.emplace_back(tree_collectives_lines(children.size(), kRingLines));
    }
  }
  HostMemory memory(int self) {
    std::vector<std::span<std::byte>> spans;
    for (auto& inbox : inboxes) spans.push_back(std::as_writable_bytes(std::span(inbox)));
    return HostMemory(EndpointId(static_cast<std::uint16_t>(self)), spans);
  }

  const ThreadWaitOptions options;
  Prng prng;
  const Tree tree;
  SleepWords words;
  std::vector<std::vector<HostLine>> inboxes;
  std::atomic<std::uint64_t> wrong{0};
};

void add_words(std::span<std::byte> target, std::span<const std::byte> source) {
  auto* const to = reinterpret_cast<std::uint64_t*>(target.data());
  const auto* const from = reinterpret_cast<const std::uint64_t*>(source.data());
  for (std::size_t i = 0; i < target.size() / 8; ++i) to[i] += from[i];
}

// A reduction, an allreduce and a broadcast of the same random size in each round; all threads draw the same sizes.
void work(Party& party, int self, std::uint64_t rounds) {
  TreeCollectives<HostMemory> collectives(party.memory(self), party.tree, kRingLines);
  ThreadWaiting<> waiting(party.words, EndpointId(static_cast<std::uint16_t>(self)), party.options);
  const auto threads = static_cast<std::uint64_t>(party.tree.size());
  const bool root = self == party.tree.root;
  Prng sizes(7);
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    std::vector<std::uint64_t> data(1 + sizes.below(300), round + static_cast<std::uint64_t>(self));
    const auto bytes = std::as_writable_bytes(std::span(data));
    const auto expect = [&](std::uint64_t right) {
      for (const std::uint64_t each : data) party.wrong += each != right;
    };
    const std::uint64_t sum = threads * round + threads * (threads - 1) / 2;
    collectives.allreduce(bytes, add_words, waiting);
    expect(sum);
    collectives.reduce(bytes, add_words, waiting);
    if (root) expect(sum * threads);
    if (root) data.assign(data.size(), round * 3);
    collectives.broadcast(std::as_writable_bytes(std::span(data)), waiting);
    expect(round * 3);
  }
}

}  // namespace

TEST_CASE("threads reduce and broadcast on any tree, however they wait") {
  const ThreadWaitOptions ways[] = {{50'000, 4, true}, {0, 8, false}, {0, 0, false}, {0, 0, true}};
  for (const ThreadWaitOptions& way : ways) {
    for (const int threads : {1, 2, 3, 6}) {
      const auto seed = static_cast<std::uint64_t>(threads);
      INFO(threads << " threads, seed " << seed << ", spin " << way.spin_ns << " ns, " << way.yields << " yields, "
                   << (way.sleepers_fence ? "sleepers fence" : "both fence"));
      Party party(threads, seed, way);
      std::vector<std::thread> all;
      for (int i = 0; i < threads; ++i) all.emplace_back([&party, i] { work(party, i, 40); });
      for (std::thread& each : all) each.join();
      CHECK(party.wrong.load() == 0);
    }
  }
}
