// The weak machine itself, on the classic cases: what Arm and Power show, and what their orders forbid.
#include "tests/core/weak_reader.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <set>
#include <string>

#include "core/shared_cell.h"

namespace ingot::test {
namespace {

struct Memory {
  SharedCell<std::uint64_t> data;
  SharedCell<std::uint64_t> flag;
  char plain[12];
};

constexpr auto kRelaxed = std::memory_order_relaxed;

StoreLog& write(StoreLog& log, Memory& memory, std::memory_order order) {
  with_memory(log, [&] {
    memory.data.store(1, kRelaxed);
    copy_to_shared(memory.plain, "plain bytes", 12);
    memory.flag.store(1, order);
    memory.data.store(2, kRelaxed);
  });
  return log;
}

Reader flag_then_data(std::memory_order order) {
  return [order](std::span<const std::byte> bytes) {
    const auto& memory = *reinterpret_cast<const Memory*>(bytes.data());
    const std::uint64_t flag = memory.flag.load(order);
    return std::to_string(flag) + std::to_string(memory.data.load(kRelaxed));
  };
}

std::set<std::string> weak_texts(const StoreLog& log, const Reader& reader) {
  std::set<std::string> texts;
  for_each_run(log, Machine::kWeak, reader, {}, [&](const std::string& text, const WeakReader&) {
    texts.insert(text);
    return true;
  });
  return texts;
}

using Texts = std::set<std::string>;

TEST_CASE("a message that is published and acquired is not older than its flag, but may be newer") {
  Memory memory{};
  StoreLog log(sizeof memory, &memory);
  write(log, memory, std::memory_order_release);
  CHECK(interleaved(log, flag_then_data(kRelaxed)) == Texts{"00", "01", "02", "11", "12"});
  CHECK(weak_texts(log, flag_then_data(std::memory_order_acquire)) == Texts{"00", "01", "02", "11", "12"});
  CHECK(weak_texts(log, flag_then_data(kRelaxed)) == Texts{"00", "01", "02", "10", "11", "12"});
}

TEST_CASE("a relaxed flag publishes nothing") {
  Memory memory{};
  StoreLog log(sizeof memory, &memory);
  write(log, memory, kRelaxed);
  CHECK(weak_texts(log, flag_then_data(std::memory_order_acquire)).contains("10"));
}

TEST_CASE("an acquired store is not seen without what was stored before the fence before it") {
  Memory memory{};
  StoreLog log(sizeof memory, &memory);
  with_memory(log, [&] {
    memory.data.store(1, kRelaxed);
    store_store_fence();
    memory.flag.store(1, kRelaxed);
    memory.data.store(2, kRelaxed);
  });
  CHECK(weak_texts(log, flag_then_data(std::memory_order_acquire)) == Texts{"00", "01", "02", "11", "12"});
  CHECK(weak_texts(log, flag_then_data(kRelaxed)).contains("10"));
}

TEST_CASE("a relaxed store of the same value as the release store before it teaches nothing") {
  Memory memory{};
  StoreLog log(sizeof memory, &memory);
  with_memory(log, [&] {
    memory.data.store(1, kRelaxed);
    memory.flag.store(1, std::memory_order_release);
    memory.flag.store(1, kRelaxed);
  });
  CHECK(weak_texts(log, flag_then_data(std::memory_order_acquire)).contains("10"));
}

TEST_CASE("a cell never goes back") {
  Memory memory{};
  StoreLog log(sizeof memory, &memory);
  write(log, memory, kRelaxed);
  const Reader twice = [](std::span<const std::byte> bytes) {
    const auto& memory = *reinterpret_cast<const Memory*>(bytes.data());
    const std::uint64_t first = memory.data.load(kRelaxed);
    return std::to_string(first) + std::to_string(memory.data.load(kRelaxed));
  };
  CHECK(weak_texts(log, twice) == Texts{"00", "01", "02", "11", "12", "22"});
}

TEST_CASE("plain bytes come whole only after an order, and each word by itself without one") {
  Memory memory{};
  StoreLog log(sizeof memory, &memory);
  write(log, memory, std::memory_order_release);
  const auto plain_after = [](std::memory_order order) -> Reader {
    return [order](std::span<const std::byte> bytes) -> std::string {
      const auto& memory = *reinterpret_cast<const Memory*>(bytes.data());
      if (memory.flag.load(order) == 0) return "no flag";
      char plain[12];
      copy_from_shared(plain, memory.plain, sizeof plain);
      return std::string(plain, 8) + "|" + std::string(plain + 8, 3);
    };
  };
  CHECK(weak_texts(log, plain_after(std::memory_order_acquire)) == Texts{"no flag", "plain by|tes"});
  CHECK(weak_texts(log, plain_after(kRelaxed)).size() == 5);
}

TEST_CASE("each order can be weakened by itself, and a drawn run finds that, too") {
  Memory memory{};
  StoreLog log(sizeof memory, &memory);
  write(log, memory, std::memory_order_release);
  const Reader reader = flag_then_data(std::memory_order_acquire);
  const std::size_t flag = offsetof(Memory, flag);
  CHECK(log.releases() == std::set<OrderedAccess>{{flag, true}});
  std::set<OrderedAccess> acquires;
  CHECK(shown_by_weakness(log, reader, {}, &acquires) == std::nullopt);
  CHECK(acquires == std::set<OrderedAccess>{{flag, false}});
  CHECK(shown_by_weakness(log, reader, OrderedAccess{flag, true}) == "10");
  CHECK(shown_by_weakness(log, reader, OrderedAccess{flag, false}) == "10");
  bool found = false;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    CHECK(drawn_by_weakness(log, reader, seed) == std::nullopt);
    found = found || drawn_by_weakness(log, reader, seed, OrderedAccess{flag, false}) == "10";
  }
  CHECK(found);
}

TEST_CASE("a store that the log has not seen is found") {
  Memory memory{};
  StoreLog log(sizeof memory, &memory);
  write(log, memory, std::memory_order_release);
  CHECK(log.changed_unseen(0, 0) == std::nullopt);
  memory.plain[3] = '!';
  CHECK(log.changed_unseen(0, 0) == offsetof(Memory, plain) + 3);
}

}  // namespace
}  // namespace ingot::test
