// The heap between real threads and processes: readers beside a writer, and writers that are killed at any instant.
#include <sched.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "core/check.h"
#include "core/prng.h"
#include "replication/view/heap/memory.h"
#include "tests/replication/view/heap/heap_store.h"
#include "tests/seeds.h"
#include "tests/transport/host/child.h"

namespace ingot::test {
namespace {

constexpr std::uint64_t kExtents = 64;
constexpr std::size_t kBytes = first_extent_offset(kExtents) + kExtents * kExtentBytes;

using States = std::map<std::uint64_t, Revisions>;

// The same seed gives the same roots, from the same one on.
void write(Heap& heap, std::uint64_t seed, std::uint64_t roots, States& states) {
  Prng prng(seed);
  StoreWriter store(heap, prng);
  if (heap.published().heap.number == 1) store.begin(0);
  std::uint64_t now_ms = 0;
  while (heap.published().heap.number < roots) {
    now_ms += 6;
    if (!prng.chance(0.3) || !store.reclaim(now_ms, states)) store.change(states);
    INGOT_CHECK(heap.publish(now_ms));
  }
}

TEST_CASE("readers on other cores see the state of a root, or begin again") {
  const std::uint64_t seed = testing::drawn_seed();
  auto memory = *private_heap_memory(kBytes);
  auto heap = *Heap::create(memory->bytes(), kIdentity, 0);
  States states{{1, {}}, {2, {}}};
  std::atomic<bool> done = false;
  std::atomic<std::size_t> roots_read = 0;
  std::map<std::uint64_t, std::string> read;  // by the root's number
  std::thread reader([&] {
    while (!done.load()) {
      std::optional<std::uint64_t> number;
      std::string text = read_store(memory->bytes(), number);
      if (!text.empty()) read.emplace(*number, std::move(text));
      roots_read.store(read.size());
    }
  });
  // The reader may wait long for a core.
  for (std::uint64_t roots = 1000; roots <= 20'000 || roots_read.load() < 10; roots += 1000) {
    write(*heap, seed + roots, roots, states);
    ::sched_yield();
  }
  done.store(true);
  reader.join();
  INFO("seed " << seed);
  for (const auto& [number, text] : read) REQUIRE(text == to_text(states.at(number)));
}

// Sanitizers slow everything down.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kKills = 40;
#else
constexpr int kKills = 200;
#endif

TEST_CASE("processes are killed at any instant, one after the other, and the memory goes on") {
  const std::uint64_t seed = testing::drawn_seed();
  Prng prng(seed);
  const auto fd = create_segment("ingot-test-heap", kBytes);
  REQUIRE(fd.ok());
  auto memory = *shared_heap_memory(fd->get());
  auto model_memory = *private_heap_memory(kBytes);
  States states{{1, {}}, {2, {}}};
  REQUIRE(Heap::create(memory->bytes(), kIdentity, 0).ok());
  const Chain chain(std::span<const std::byte>(memory->bytes()));
  std::uint64_t number = 1;
  std::uint64_t put_back = 0;
  for (int i = 0; i < kKills; ++i) {
    const std::uint64_t script = prng();
    const std::uint64_t target = number + prng.below(60);
    std::memcpy(model_memory->bytes().data(), memory->bytes().data(), kBytes);
    Child writer([&]() -> int {
      auto heap = Heap::adopt(memory->bytes(), kIdentity, 0);
      INGOT_CHECK(heap.ok());
      write(**heap, script, number + 50'000, states);
      for (;;) ::sched_yield();
    });
    while (read_counter(chain, kNumberOffset).value_or(0) < target) ::sched_yield();
    for (std::uint64_t spins = prng.below(3000); spins > 0; --spins) asm volatile("");
    writer.kill();
    REQUIRE(writer.wait() == -SIGKILL);

    auto model = Heap::adopt(model_memory->bytes(), kIdentity, 0);
    REQUIRE(model.ok());
    const std::uint64_t published = read_counter(chain, kNumberOffset).value();
    write(**model, script, published, states);
    auto adopted = adopt_chain(Chain(memory->bytes()), kIdentity);
    INFO("seed " << seed << ", kill " << i << ": " << adopted.status());
    REQUIRE(adopted.ok());
    put_back += adopted->put_back > 0 ? 1 : 0;
    auto heap = *Heap::adopt(memory->bytes(), kIdentity, 0);
    REQUIRE(heap->published().heap.number == published);
    std::optional<std::uint64_t> read_number;
    if (published > 1) {
      REQUIRE(read_store(memory->bytes(), read_number) == to_text(states.at(published)));
      REQUIRE(check_books(*heap, memory->bytes()) == "");
    }
    states = {{2, {}}, {published, states.at(published)}};
    number = published;
  }
  CHECK(put_back > 0);
}

}  // namespace
}  // namespace ingot::test
