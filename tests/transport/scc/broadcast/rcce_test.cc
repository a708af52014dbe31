// RCCE at both levels, RCKMPI's channel, and the interrupt library, on real bytes.
#include <catch2/catch.hpp>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "core/prng.h"
#include "transport/scc/chip.h"
#include "transport/scc/interrupts/interrupts.h"
#include "transport/scc/rcce/rcce.h"
#include "transport/scc/rckmpi/channel.h"

namespace ingot::scc {
namespace {

void fill(Chip& chip, int core, Address at, std::size_t bytes, std::uint64_t seed) {
  Prng random(seed);
  for (auto& byte : chip.private_memory(core).subspan(at, bytes)) byte = static_cast<std::byte>(random());
}

bool equal(Chip& chip, int a, Address at_a, int b, Address at_b, std::size_t bytes) {
  return std::memcmp(chip.private_memory(a).data() + at_a, chip.private_memory(b).data() + at_b, bytes) == 0;
}

TEST_CASE("groups name each core once") {
  CHECK_FALSE(Group::create({}).ok());
  const std::vector<int> twice{3, 4, 3}, beyond{1, 48}, mixed{9, 2, 40};
  CHECK(std::string(Group::create(twice).status().message()) == "core 3 is named twice: name each core once");
  CHECK(std::string(Group::create(beyond).status().message()) ==
        "there is no core 48: cores are numbered from 0 to 47");
  const auto group = Group::create(mixed);
  REQUIRE(group.ok());
  CHECK(group->cores() == std::vector<int>{2, 9, 40});
  CHECK(group->relative(2, 9) == 2);
  CHECK(group->core_at(2, 9) == 2);
  CHECK_FALSE(group->contains(3));
}

TEST_CASE("messages of all sizes, both ways, by RCCE's send and receive") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    ChipOptions options;
    options.seed = seed;
    options.jitter_core_cycles = 40 * seed;
    auto chip = *Chip::create(options);
    const std::vector<std::size_t> sizes{0, 1, 3, 32, 33, 4095, 4096, 4097, 10'001};
    fill(*chip, 5, 0, 20'000, seed);
    const Group group = Group::first(kCores);
    const int both[] = {5, 42};
    const absl::Status status = chip->run(both, [&](Core& core) {
      Rcce rcce(core, group);
      Address at = 0;
      for (const std::size_t bytes : sizes) {
        if (core.id() == 5) {
          rcce.send(private_address(at), bytes, 42);
          rcce.receive(private_address(100'000 + at), bytes, 42);
        } else {
          rcce.receive(private_address(3 + at), bytes, 5);  // another alignment
          rcce.send(private_address(3 + at), bytes, 5);
        }
        at += static_cast<Address>(bytes);
      }
    });
    INFO("seed " << seed << ": " << status.ToString());
    REQUIRE(status.ok());
    const std::size_t all = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    CHECK(equal(*chip, 5, 0, 42, 3, all));
    CHECK(equal(*chip, 5, 0, 5, 100'000, all));
  }
}

TEST_CASE("gory: blocks and flags by hand") {
  auto chip = *Chip::create({});
  fill(*chip, 0, 64, 500, 7);
  const int both[] = {0, 17};
  const absl::Status status = chip->run(both, [&](Core& core) {
    RcceGory gory(core);
    const auto block = gory.allocate(500);
    const auto filled = gory.allocate_flag();
    const auto emptied = gory.allocate_flag();
    REQUIRE((block && filled && emptied));
    CHECK(block->lines == 16);
    if (core.id() == 0) {
      put(core, 17, block->line, private_address(64), 500);  // into the other's MPB
      write_flag(core, *filled, 9, 17);
      wait_flag(core, *emptied, 1, "the other");
      CHECK(read_flag(core, *filled, 17) == 0);
    } else {
      wait_flag(core, *filled, 9, "the first");
      get(core, private_address(64), 17, block->line, 500);
      write_flag(core, *filled, 0, 17);
      write_flag(core, *emptied, 1, 0);
    }
  });
  REQUIRE(status.ok());
  CHECK(equal(*chip, 0, 64, 17, 64, 500));
}

TEST_CASE("gory: allocation is first fit, and ends at the barrier's lines") {
  auto chip = *Chip::create({});
  RcceGory gory(chip->core(0));
  const auto first = gory.allocate(33), second = gory.allocate(32);
  REQUIRE((first && second));
  CHECK(first->line == 0);
  CHECK(second->line == 2);
  gory.release(*first);
  CHECK(gory.allocate(96)->line == 3);
  CHECK(gory.allocate(64)->line == 0);
  CHECK_FALSE(gory.allocate(kMpbBytesPerCore).has_value());
  std::size_t flags = 0;
  while (gory.allocate_flag().has_value()) ++flags;
  CHECK(flags == kGoryLines - 6);
}

TEST_CASE("no core leaves a barrier before all have entered") {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    ChipOptions options;
    options.seed = seed;
    options.jitter_core_cycles = 500;
    auto chip = *Chip::create(options);
    const Group group = Group::first(11);
    Prng random(seed);
    std::vector<int> came(4, 0);
    const absl::Status status = chip->run(group.cores(), [&](Core& core) {
      for (std::size_t round = 0; round < came.size(); ++round) {
        core.compute(random.below(20'000));
        ++came[round];
        barrier(core, group);
        CHECK(came[round] == group.size());
      }
    });
    REQUIRE(status.ok());
  }
}

TEST_CASE("a receive without a sender is a deadlock, reported with its core and its reason") {
  auto chip = *Chip::create({});
  const Group group = Group::first(2);
  const absl::Status status = chip->run(group.cores(), [&](Core& core) {
    Rcce rcce(core, group);
    if (core.id() == 1) rcce.receive(private_address(0), 10, 0);
  });
  CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
  CHECK(std::string(status.message()).find("a sent flag") != std::string::npos);
}

TEST_CASE("RCKMPI's channel matches by source and tag, in order") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    ChipOptions options;
    options.seed = seed;
    options.jitter_core_cycles = 200;
    auto chip = *Chip::create(options);
    const Group group = Group::first(kCores);
    const auto message = [](int core, int number, std::size_t bytes) {
      return std::vector<std::byte>(bytes, static_cast<std::byte>(core * 7 + number));
    };
    const int three[] = {0, 20, 47};
    const absl::Status status = chip->run(three, [&](Core& core) {
      RckmpiChannel channel(core, group);
      const int others[] = {20, 47};
      if (core.id() != 0) {
        for (int i = 0; i < 5; ++i) {
          channel.send(0, static_cast<std::uint32_t>(i % 2), message(core.id(), i, i * 97));
        }
        CHECK(channel.receive(RckmpiChannel::kAnySource, 9).bytes == message(0, core.id(), 1000));
        return;
      }
      for (const int tag : {1, 0}) {  // against the order of sending
        for (int i = tag; i < 5; i += 2) {
          for (const int other : others) CHECK(channel.receive(other, tag).bytes == message(other, i, i * 97));
        }
      }
      for (const int other : others) channel.send(other, 9, message(0, other, 1000));
    });
    INFO("seed " << seed << ": " << status.ToString());
    REQUIRE(status.ok());
  }
}

TEST_CASE("RCKMPI's channel: two cores that send to each other at the same time both get through") {
  auto chip = *Chip::create({});
  const Group group = Group::first(kCores);
  const int both[] = {3, 30};
  const absl::Status status = chip->run(both, [&](Core& core) {
    RckmpiChannel channel(core, group);
    const std::vector<std::byte> message(5000, static_cast<std::byte>(core.id()));
    const int other = 33 - core.id();
    channel.send(other, 1, message);
    CHECK(channel.receive(other, 1).bytes == std::vector<std::byte>(5000, static_cast<std::byte>(other)));
  });
  CHECK(status.ok());
}

TEST_CASE("one interrupt reaches many cores; masked ones come later, merged") {
  auto chip = *Chip::create({});
  std::vector<CoreSet> seen(kCores, 0);
  std::vector<int> calls(kCores, 0);
  const absl::Status status = chip->run([&](Core& core) {
    const auto id = static_cast<std::size_t>(core.id());
    Interrupts interrupts(core, [&, id](Core&, CoreSet senders) {
      seen[id] |= senders;
      ++calls[id];
    });
    if (core.id() < 2) {
      core.compute(10'000);
      interrupts.send(((CoreSet{1} << kCores) - 1) & ~CoreSet{3});
      return;
    }
    if (core.id() == 2) {
      const Interrupts::Mask outer(interrupts);
      const Interrupts::Mask inner(interrupts);
      core.compute(100'000);
      CHECK(calls[id] == 0);
    } else {
      interrupts.wait();
      core.compute(100'000);
    }
  });
  REQUIRE(status.ok());
  CHECK(calls[2] == 1);
  for (std::size_t core = 2; core < kCores; ++core) CHECK(seen[core] == CoreSet{3});
}

}  // namespace
}  // namespace ingot::scc
