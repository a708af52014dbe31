// What a core sees of other cores' stores: stale lines, the write-combining buffer, and the remedies.
#include "tests/transport/scc/make_chip.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "core/prng.h"

using namespace ingot;
using namespace ingot::scc;
using namespace ingot::test;

namespace {

using Word = std::uint32_t;

Word in_memory(Chip& chip, int core, std::size_t offset) {
  Word word = 0;
  std::memcpy(&word, chip.mpb(core).data() + offset, sizeof word);
  return word;
}

}  // namespace

TEST_CASE("an MPB-typed load is stale until the lines are dropped") {
  const auto chip = make_chip();
  const Address at = mpb_address(10, 64);
  on_core(*chip, 3, [&](Core& core) { CHECK(core.load<Word>(at) == 0); });
  on_core(*chip, 10, [&](Core& core) {
    core.store<Word>(at, 7);
    core.flush_wcb();
  });
  on_core(*chip, 3, [&](Core& core) {
    CHECK(core.load<Word>(at) == 0);
    core.invalidate_mpb();
    CHECK(core.load<Word>(at) == 7);
  });
}

TEST_CASE("a store stays in the write-combining buffer until it must leave") {
  const auto chip = make_chip();
  on_core(*chip, 0, [&](Core& core) {
    core.store<Word>(mpb_address(5, 0), 1);
    core.compute(1'000'000);
    CHECK(in_memory(*chip, 5, 0) == 0);
    core.store<Word>(mpb_address(5, 4), 2);  // the same line
    CHECK(in_memory(*chip, 5, 0) == 0);

    SECTION("by a flush") { core.flush_wcb(); }
    SECTION("by a store to another line") { core.store<Word>(mpb_address(6, 0), 3); }
    SECTION("by a load of its own line") { CHECK(core.load<Word>(mpb_address(5, 4)) == 2); }
    SECTION("when it is full") {
      for (std::size_t offset = 8; offset < kLineBytes; offset += 4) core.store<Word>(mpb_address(5, offset), 9);
    }
    CHECK(in_memory(*chip, 5, 0) == 1);
    CHECK(in_memory(*chip, 5, 4) == 2);
  });
}

TEST_CASE("a core sees its own stores at once, in L1 or not") {
  const auto chip = make_chip();
  on_core(*chip, 0, [&](Core& core) {
    core.store<Word>(mpb_address(5, 0), 1);
    CHECK(core.load<Word>(mpb_address(5, 0)) == 1);
    core.store<Word>(mpb_address(5, 0), 2);  // the line is in L1 now
    CHECK(core.load<Word>(mpb_address(5, 0)) == 2);
    core.invalidate_mpb();
    CHECK(core.load<Word>(mpb_address(5, 0)) == 2);
  });
}

TEST_CASE("a masked line disturbs no neighbour") {
  const auto chip = make_chip();
  std::vector<int> writers;
  for (int i = 0; i < 32; ++i) writers.push_back(i);
  on_cores(*chip, writers, [&](Core& core) {
    for (std::uint8_t n = 1; n <= 20; ++n) {
      core.store<std::uint8_t>(mpb_address(40, static_cast<std::size_t>(core.id())), n);
      core.flush_wcb();
    }
  });
  for (std::size_t i = 0; i < 32; ++i) CHECK(chip->mpb(40)[i] == std::byte(20));
}

TEST_CASE("uncached memory is never stale, and passes the write-combining buffer") {
  const auto chip = make_chip();
  const Address shared = shared_address(4096);
  on_core(*chip, 1, [&](Core& core) {
    CHECK(core.load<Word>(shared) == 0);
    core.store<Word>(mpb_address(1, 0), 1);
    core.store<Word>(shared, 5);
    CHECK(in_memory(*chip, 1, 0) == 0);  // stored earlier, but still in the buffer
  });
  on_core(*chip, 2, [&](Core& core) { CHECK(core.load<Word>(shared) == 5); });
}

TEST_CASE("shared memory that is MPB-typed is as stale as an MPB") {
  const auto chip = make_chip({.shared_type = MemoryType::kMpbTyped});
  const Address shared = shared_address(kSharedBytes - 4);
  on_core(*chip, 2, [&](Core& core) { CHECK(core.load<Word>(shared) == 0); });
  on_core(*chip, 1, [&](Core& core) {
    core.store<Word>(shared, 5);
    core.flush_wcb();
  });
  on_core(*chip, 2, [&](Core& core) {
    CHECK(core.load<Word>(shared) == 0);
    core.invalidate_mpb();
    CHECK(core.load<Word>(shared) == 5);
  });
}

TEST_CASE("a copy moves every byte, whatever its alignment") {
  const auto chip = make_chip();
  Prng prng(5);
  on_core(*chip, 7, [&](Core& core) {
    const auto memory = core.private_memory();
    for (std::size_t i = 0; i < 4096; ++i) memory[i] = std::byte(prng());
    for (int round = 0; round < 200; ++round) {
      const std::size_t from = prng.below(1000), to = prng.below(1000), bytes = prng.below(2000);
      core.copy(mpb_address(30, to), private_address(from), bytes);
      core.flush_wcb();
      core.invalidate_mpb();
      core.copy(private_address(100'000 + from), mpb_address(30, to), bytes);
      CHECK(std::memcmp(memory.data() + 100'000 + from, memory.data() + from, bytes) == 0);
      CHECK(std::memcmp(chip->mpb(30).data() + to, memory.data() + from, bytes) == 0);
    }
  });
}

TEST_CASE("locks exclude, on every seed and with every delay") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto chip = make_chip({.seed = seed, .start_skew_core_cycles = 1000, .jitter_core_cycles = seed * 20});
    const absl::Status status = chip->run([](Core& core) {
      for (int i = 0; i < 5; ++i) {
        core.lock(17);
        core.invalidate_mpb();
        core.store<Word>(mpb_address(0, 0), core.load<Word>(mpb_address(0, 0)) + 1);
        core.flush_wcb();
        core.unlock(17);
      }
    });
    CHECK(status.ok());
    CHECK(in_memory(*chip, 0, 0) == 5 * kCores);
  }
}

TEST_CASE("without the flush, or without dropping lines, a lock protects nothing") {
  const bool flush = GENERATE(true, false);
  const auto chip = make_chip();
  static_cast<void>(chip->run([flush](Core& core) {
    for (int i = 0; i < 5; ++i) {
      core.lock(17);
      if (flush) core.flush_wcb();
      if (!flush) core.invalidate_mpb();
      core.store<Word>(mpb_address(0, 0), core.load<Word>(mpb_address(0, 0)) + 1);
      core.unlock(17);
    }
  }));
  CHECK(in_memory(*chip, 0, 0) < 5 * kCores);
}

TEST_CASE("the FPGA's counters give each number once") {
  const auto chip = make_chip();
  std::vector<int> seen(kCores * 10);
  CHECK(chip->run([&](Core& core) {
    for (int i = 0; i < 10; ++i) ++seen[core.fetch_increment(95)];
  }).ok());
  for (const int times : seen) CHECK(times == 1);
}
