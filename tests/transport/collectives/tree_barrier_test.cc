// The tree barrier between threads of this machine, on any tree, spinning, yielding and sleeping.
#include <catch2/catch.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "core/prng.h"
#include "tests/transport/random_tree.h"
#include "transport/collectives/tree_barrier.h"
#include "transport/host/host_memory.h"
#include "transport/host/thread_waiting.h"

using namespace ingot;
using namespace ingot::test;

namespace {

struct alignas(64) HostLine {
  std::byte bytes[64]{};
};

// Plain memory that each thread writes, one line each: TSan reports accesses that the barrier does not order.
struct alignas(64) Cell {
  std::uint64_t value = 0;
};

struct Party {
  Party(int threads, std::uint64_t seed, const ThreadWaitOptions& wait_options)
      : options(wait_options), prng(seed), tree(random_tree(threads, prng)), words(size(), options.sleepers_fence) {
    for (const auto& children : tree.children) inboxes.emplace_back(tree_barrier_lines(children.size()));
    cells[0].resize(size());
    cells[1].resize(size());
  }
  std::size_t size() const { return static_cast<std::size_t>(tree.size()); }
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
  std::vector<Cell> cells[2];
  std::atomic<std::uint64_t> wrong{0};
};

void work(Party& party, int self, std::uint64_t rounds) {
  TreeBarrier<HostMemory> barrier(party.memory(self), party.tree);
  ThreadWaiting<> waiting(party.words, EndpointId(static_cast<std::uint16_t>(self)), party.options);
  Prng random(static_cast<std::uint64_t>(self) + 17);
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    if (random.chance(0.01)) std::this_thread::yield();
    auto& cells = party.cells[round % 2];
    cells[static_cast<std::size_t>(self)].value = round;
    barrier.wait(waiting);
    for (const Cell& cell : cells) {
      if (cell.value != round) party.wrong.fetch_add(1);
    }
  }
}

std::uint64_t wrong_in(int threads, std::uint64_t seed, std::uint64_t rounds, const ThreadWaitOptions& options) {
  Party party(threads, seed, options);
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back([&party, i, rounds] { work(party, i, rounds); });
  for (std::thread& each : all) each.join();
  return party.wrong.load();
}

}  // namespace

TEST_CASE("threads meet on any tree, however they wait") {
  const ThreadWaitOptions ways[] = {{50'000, 4, true}, {50'000, 4, false}, {0, 8, false}, {0, 0, false}, {0, 0, true}};
  for (const ThreadWaitOptions& way : ways) {
    for (const int threads : {1, 2, 3, 4, 7, 13}) {
      const auto seed = static_cast<std::uint64_t>(threads);
      INFO(threads << " threads, seed " << seed << ", spin " << way.spin_ns << " ns, " << way.yields << " yields, "
                   << (way.sleepers_fence ? "sleepers fence" : "both fence"));
      CHECK(wrong_in(threads, seed, way.yields == 0 ? 500 : 1500, way) == 0);
    }
  }
}

TEST_CASE("no wake-up is lost between two threads that sleep at once") {
  for (const bool sleepers_fence : {false, true}) {
    INFO((sleepers_fence ? "sleepers fence" : "both fence"));
    CHECK(wrong_in(2, 1, 4000, {0, 0, sleepers_fence}) == 0);
  }
}

TEST_CASE("a thread that gives up goes on, and so do the others") {
  Party party(3, 5, {});
  std::atomic<bool> give_up{false};
  const auto gives_up = [&] { return give_up.load(); };
  std::vector<std::thread> all;
  for (int i = 0; i < 2; ++i) {
    all.emplace_back([&, i] {
      TreeBarrier<HostMemory> barrier(party.memory(i), party.tree);
      ThreadWaiting waiting(party.words, EndpointId(static_cast<std::uint16_t>(i)), {}, gives_up);
      barrier.wait(waiting);  // the third never arrives
    });
  }
  give_up.store(true);
  for (std::uint16_t i = 0; i < 3; ++i) party.words.wake(EndpointId(i));
  for (std::thread& each : all) each.join();
  CHECK(give_up.load());
}
