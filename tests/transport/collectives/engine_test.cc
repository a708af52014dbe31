// The progress engine: windows, bounds, failures.
#include "transport/collectives/progress_engine.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/transport/collectives/world.h"

namespace ingot::test {
namespace {

constexpr GroupId kGroup(1);

Tree chain(int cores) {
  Tree tree(cores, 0);
  for (int core = 1; core < cores; ++core) tree.children[static_cast<std::size_t>(core - 1)] = {core};
  return tree;
}

TreeSeat seat_of(const Tree& tree, int self) {
  const auto seat =
      TreeSeat::of(tree, first_endpoints(tree.size()), EndpointId(static_cast<std::uint16_t>(self)), tree.size());
  REQUIRE(seat.ok());
  return *seat;
}

// A broadcast down a chain of two to four endpoints, repeated with one schedule each.
struct Repeated {
  Repeated(std::string_view kind, int endpoints, std::size_t bytes)
      : world(kind, endpoints, 1), data(static_cast<std::size_t>(endpoints), std::vector<std::byte>(bytes)) {
    for (int i = 0; i < endpoints; ++i) {
      auto schedule = make_broadcast(seat_of(chain(endpoints), i), data[static_cast<std::size_t>(i)]);
      REQUIRE(schedule.ok());
      schedules.push_back(*std::move(schedule));
    }
  }
  // Starts it at `endpoint` unless it runs; true if it started.
  bool start(int endpoint) {
    auto& schedule = schedules[static_cast<std::size_t>(endpoint)];
    if (schedule.state() == Schedule::State::kRunning) return false;
    return world.engine(endpoint).start(kGroup, schedule).ok();
  }
  World world;
  std::vector<std::vector<std::byte>> data;
  std::vector<Schedule> schedules;
};

TEST_CASE("a root is at most a window ahead of a member that starts nothing, and continues when the member starts") {
  const std::string kind = GENERATE("nvp", "srbp");
  const std::size_t bytes = GENERATE(0, 8, 1000, 4096);
  Repeated repeated(kind, 2, bytes);
  std::uint32_t ahead = 0;
  for (int i = 0; i < 2000; ++i) {
    ahead += repeated.start(0) ? 1 : 0;
    repeated.world.step();
  }
  CHECK(ahead == kEagerOperations + 1);  // the last one is started and waits
  CHECK(repeated.world.engine(1).counters().held == kEagerOperations);
  CHECK(repeated.world.engine(1).counters().stray == 0);
  std::uint32_t followed = 0;
  for (int i = 0; i < 20'000; ++i) {
    ahead += repeated.start(0) ? 1 : 0;
    followed += repeated.start(1) ? 1 : 0;
    repeated.world.step();
  }
  CHECK(followed > 1000);
  CHECK(ahead >= followed);
  CHECK(repeated.world.engine(1).counters().stray == 0);
  // The member announces its progress only now and then.
  CHECK(repeated.world.engine(1).counters().announced <= followed / kAnnounceOperations + 1);
}

TEST_CASE("a message too long to be buffered waits until its receiver has started") {
  const std::string kind = GENERATE("nvp", "srbp");
  Repeated repeated(kind, 3, kEagerBytes + 1);
  std::fill(repeated.data[0].begin(), repeated.data[0].end(), std::byte{9});
  REQUIRE(repeated.start(0));
  REQUIRE(repeated.start(1));
  repeated.world.settle();
  CHECK(repeated.data[1] == repeated.data[0]);
  CHECK(repeated.schedules[1].state() == Schedule::State::kRunning);  // it has not passed it on
  CHECK(repeated.world.engine(1).counters().too_soon == 1);
  CHECK(repeated.world.engine(2).counters().received == 0);
  REQUIRE(repeated.start(2));
  repeated.world.settle();
  CHECK(repeated.schedules[1].done());
  CHECK(repeated.schedules[2].done());
  CHECK(repeated.data[2] == repeated.data[0]);
}

TEST_CASE("a payload of another size, or another operation, fails the run and nothing else") {
  const std::string kind = GENERATE("nvp", "srbp");
  World world(kind, 2, 1);
  std::vector<std::byte> longer(100), shorter(99);
  auto sent = *make_broadcast(seat_of(chain(2), 0), longer);
  auto expected = *make_broadcast(seat_of(chain(2), 1), shorter);
  int ends = 0;
  expected.on_end([&](Schedule&) { ++ends; });
  REQUIRE(world.engine(0).start(kGroup, sent).ok());
  REQUIRE(world.engine(1).start(kGroup, expected).ok());
  world.settle();
  CHECK(expected.state() == Schedule::State::kFailed);
  CHECK(expected.failure() == "endpoint 0 sent 100 bytes with tag 16384, where 99 are expected");
  CHECK(ends == 1);

  auto barrier = *make_barrier(seat_of(chain(2), 0));
  REQUIRE(world.engine(0).start(kGroup, sent).ok());
  REQUIRE(world.engine(1).start(kGroup, expected).ok());
  world.settle();
  CHECK(expected.state() == Schedule::State::kFailed);

  auto fitting = *make_broadcast(seat_of(chain(2), 1), longer);
  std::vector<std::byte> source(100, std::byte{7});
  auto again = *make_broadcast(seat_of(chain(2), 0), source);
  REQUIRE(world.engine(1).start(kGroup, fitting).ok());
  REQUIRE(world.engine(0).start(kGroup, again).ok());
  world.settle();
  CHECK(fitting.done());
  CHECK(longer == source);
  REQUIRE(world.engine(0).start(kGroup, barrier).ok());
  REQUIRE(world.engine(1).start(kGroup, fitting).ok());
  world.settle();
  CHECK(!fitting.done());
  CHECK(barrier.state() == Schedule::State::kRunning);
  world.engine(0).cancel(barrier);
  CHECK(barrier.failure() == "it was cancelled");
  world.engine(1).cancel(fitting);
}

TEST_CASE("starting what cannot start is refused and changes nothing") {
  World world("nvp", 2, 1);
  auto barrier = *make_barrier(seat_of(chain(2), 0));
  auto other = *make_barrier(seat_of(chain(2), 1));
  auto& engine = world.engine(0);
  CHECK(engine.start(kGroup, other).message() == "the schedule is for endpoint 1 of 2, not for endpoint 0 of 2");
  CHECK(absl::IsInvalidArgument(engine.start(GroupId(kGroupIdsMax), barrier)));
  REQUIRE(engine.start(kGroup, barrier).ok());
  CHECK(engine.start(kGroup, barrier).message() == "the schedule is running: start it again when it is done");
  std::vector<Schedule> more;
  for (std::uint32_t i = 0; i < kOperationsInFlightMax; ++i) more.push_back(*make_barrier(seat_of(chain(2), 0)));
  for (std::uint32_t i = 0; i + 1 < kOperationsInFlightMax; ++i) REQUIRE(engine.start(kGroup, more[i]).ok());
  CHECK(absl::IsResourceExhausted(engine.start(kGroup, more.back())));
  engine.retire(kGroup);
  CHECK(barrier.failure() == "group 1 was retired");
  CHECK(engine.start(kGroup, barrier).message() == "group 1 is retired: use another number");
  for (std::uint16_t group = 2; group < 2 + kGroupsMax; ++group)
    REQUIRE(engine.start(GroupId(group), more[group]).ok());
  CHECK(absl::IsResourceExhausted(engine.start(GroupId(100), barrier)));
}

TEST_CASE("a death fails operations with the dead endpoint; the others go on in a new group, on a tree without it") {
  const std::string kind = GENERATE("nvp", "srbp");
  World world(kind, 4, 3);
  std::vector<Schedule> barriers;
  for (int i = 0; i < 4; ++i) barriers.push_back(*make_barrier(seat_of(chain(4), i)));
  world.stop(2);
  for (int i = 0; i < 4; ++i) {
    if (i != 2) REQUIRE(world.engine(i).start(kGroup, barriers[static_cast<std::size_t>(i)]).ok());
  }
  world.settle();
  for (const int survivor : {0, 1, 3}) {
    world.transport(survivor).peer_gone(EndpointId(2));
    world.engine(survivor).endpoint_gone(EndpointId(2));
  }
  CHECK(barriers[1].failure() == "endpoint 2 is gone");
  CHECK(barriers[3].failure() == "endpoint 2 is gone");
  CHECK(barriers[0].state() == Schedule::State::kRunning);  // it waits for endpoint 1 only
  CHECK(world.engine(1).start(kGroup, barriers[1]).message() == "endpoint 2 of the schedule is gone");
  for (const int survivor : {0, 1, 3}) world.engine(survivor).retire(kGroup);
  CHECK(barriers[0].failure() == "group 1 was retired");

  const std::vector<EndpointId> survivors{EndpointId(0), EndpointId(1), EndpointId(3)};
  std::vector<Schedule> again;
  for (const EndpointId survivor : survivors)
    again.push_back(*make_barrier(*TreeSeat::of(chain(3), survivors, survivor, 4)));
  for (std::size_t i = 0; i < 3; ++i) REQUIRE(world.engine(survivors[i].value()).start(GroupId(2), again[i]).ok());
  world.settle();
  for (const Schedule& barrier : again) CHECK(barrier.done());
}

TEST_CASE("foreign and malformed messages are counted and dropped") {
  World world("nvp", 2, 1);
  auto& engine = world.engine(1);
  const auto send = [&](std::vector<std::uint8_t> bytes) {
    REQUIRE(world.transport(0).send(EndpointId(1), std::as_bytes(std::span(bytes))));
    world.settle();
    return engine.counters().stray;
  };
  CHECK(send({1, 2, 3}) == 1);                                // another class
  CHECK(send({0x40}) == 2);                                   // too short
  CHECK(send({0x40, 0xff, 0xff, 0, 0, 0, 0, 0}) == 3);        // no such group
  CHECK(send({0x40, 1, 0, 0, 0, kEagerOperations, 0, 0}) == 4);  // beyond the window
  CHECK(send({0x40, 1, 0, 0, 0, 0xff, 0xff, 0xff}) == 5);     // of an operation that has ended
  CHECK(engine.counters().held == 0);
  Prng random(1);
  for (int i = 0; i < 5000; ++i) {
    std::vector<std::uint8_t> noise(1 + random.below(40));
    for (auto& byte : noise) byte = static_cast<std::uint8_t>(random());
    noise[0] = static_cast<std::uint8_t>(random.chance(0.5) ? 0x40 + random.below(2) : 0x44 + random.below(4));
    if (noise.size() > 1) noise[1] = 1;
    if (noise.size() > 2) noise[2] = 0;
    REQUIRE(world.transport(0).send(EndpointId(1), std::as_bytes(std::span(noise))));
    world.engine(0).poll(world.now_ns());
    engine.poll(world.now_ns());
  }
  CHECK(engine.counters().stray > 1000);
  auto up = *make_barrier(seat_of(chain(2), 1)), down = *make_barrier(seat_of(chain(2), 0));
  REQUIRE(engine.start(GroupId(2), up).ok());
  REQUIRE(world.engine(0).start(GroupId(2), down).ok());
  world.settle();
  CHECK((up.done() && down.done()));
}

TEST_CASE("the numbers of operations wrap") {
  World world("nvp", 2, 1);
  auto up = *make_barrier(seat_of(chain(2), 0)), down = *make_barrier(seat_of(chain(2), 1));
  CHECK(OperationSequence(0).after(OperationSequence(0xff'ffff)) == 1);
  CHECK(OperationSequence(0xff'ffff).after(OperationSequence(0)) == -1);
  if (std::getenv("INGOT_LONG_TESTS") == nullptr) return;
  for (std::uint32_t i = 0; i < (1u << 24) + 100; ++i) {
    REQUIRE(world.engine(0).start(kGroup, up).ok());
    REQUIRE(world.engine(1).start(kGroup, down).ok());
    while (!up.done() || !down.done()) world.step();
  }
}

}  // namespace
}  // namespace ingot::test
