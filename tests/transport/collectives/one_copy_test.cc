// Payloads that are copied from memory to memory: windows, withdrawn offers, refusals, and between processes.
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/transport/collectives/world.h"
#include "tests/transport/host/child.h"
#include "transport/collectives/progress_engine.h"

namespace ingot::test {
namespace {

constexpr GroupId kGroup(1);
constexpr std::size_t kBytes = 20'000;

Tree chain(int cores) {
  Tree tree(cores, 0);
  for (int core = 1; core < cores; ++core) tree.children[static_cast<std::size_t>(core - 1)] = {core};
  return tree;
}

TreeSeat seat_of(const Tree& tree, int self) {
  return *TreeSeat::of(tree, first_endpoints(tree.size()), EndpointId(static_cast<std::uint16_t>(self)), tree.size());
}

// A broadcast of one message down a chain.
struct Broadcast {
  explicit Broadcast(int endpoints, int value = 7, std::size_t bytes = kBytes)
      : data(static_cast<std::size_t>(endpoints), std::vector<std::byte>(bytes)) {
    std::fill(data[0].begin(), data[0].end(), static_cast<std::byte>(value));
    for (int i = 0; i < endpoints; ++i) {
      schedules.push_back(*make_broadcast(seat_of(chain(endpoints), i), data[static_cast<std::size_t>(i)], bytes));
    }
  }
  void start(World& world, int endpoint) {
    REQUIRE(world.engine(endpoint).start(kGroup, schedules[static_cast<std::size_t>(endpoint)]).ok());
  }
  Schedule& at(int endpoint) { return schedules[static_cast<std::size_t>(endpoint)]; }

  std::vector<std::vector<std::byte>> data;
  std::vector<Schedule> schedules;
};

TEST_CASE("an offer leaves before its receiver starts, and its sender is done when the payload is copied") {
  const std::string kind = GENERATE("nvp", "srbp");
  World world(kind, 3, 1, {1, 1, 1});
  Broadcast broadcast(3);
  broadcast.start(world, 0);
  broadcast.start(world, 1);
  world.settle();
  CHECK(broadcast.at(0).done());
  CHECK(broadcast.data[1] == broadcast.data[0]);
  CHECK(broadcast.at(1).state() == Schedule::State::kRunning);  // its child has not copied
  CHECK(world.engine(2).counters().held == 1);
  CHECK(world.engine(1).counters().too_soon == 0);
  broadcast.start(world, 2);
  world.settle();
  CHECK(broadcast.at(1).done());
  CHECK(broadcast.at(2).done());
  CHECK(broadcast.data[2] == broadcast.data[0]);
  for (int i = 1; i < 3; ++i) CHECK(world.engine(i).counters().copied == 1);
  for (int i = 0; i < 3; ++i) CHECK(world.engine(i).counters().stray == 0);
}

TEST_CASE("an endpoint that cannot copy gets payloads through lines, after one refusal") {
  const std::string kind = GENERATE("nvp", "srbp");
  World world(kind, 3, 1, {1, 0, 1});
  for (int round = 0; round < 3; ++round) {
    Broadcast broadcast(3, 1 + round);
    for (int i = 0; i < 3; ++i) broadcast.start(world, i);
    world.settle();
    for (int i = 0; i < 3; ++i) CHECK(broadcast.at(i).done());
    CHECK(broadcast.data[2] == broadcast.data[0]);
  }
  CHECK(world.engine(0).counters().offers_refused == 1);
  CHECK(world.engine(2).counters().copied == 0);  // endpoint 1 offers nothing
}

TEST_CASE("a cancelled run's payload reaches no receiver, and other offers are made again") {
  const std::string kind = GENERATE("nvp", "srbp");
  World world(kind, 2, 1, {1, 1});
  Broadcast cancelled(2, 1), other(2, 2);
  cancelled.start(world, 0);
  other.start(world, 0);
  world.settle();  // both offers are held at endpoint 1
  world.engine(0).cancel(cancelled.at(0));
  std::fill(cancelled.data[0].begin(), cancelled.data[0].end(), std::byte{99});
  cancelled.start(world, 1);
  other.start(world, 1);
  world.settle();
  CHECK(cancelled.at(1).state() == Schedule::State::kRunning);  // nothing came, and nothing will
  CHECK(other.at(0).done());
  CHECK(other.at(1).done());
  CHECK(other.data[1] == other.data[0]);
  CHECK(world.engine(0).counters().offers_withdrawn == 1);
  CHECK(world.engine(0).counters().stray == 1);  // the answer to the cancelled run
  world.engine(1).cancel(cancelled.at(1));
}

TEST_CASE("offers to a run that has failed, or to a retired group, are answered, so that the sender goes on") {
  const std::string kind = GENERATE("nvp", "srbp");
  World world(kind, 2, 1, {1, 1});
  Broadcast first(2), second(2), third(2);
  const bool hold = GENERATE(false, true);
  if (!hold) {
    first.start(world, 1);
    world.engine(1).cancel(first.at(1));
  }
  first.start(world, 0);
  second.start(world, 0);
  world.settle();
  world.engine(1).retire(kGroup);
  third.start(world, 0);
  world.settle();
  CHECK(first.at(0).done());
  CHECK(second.at(0).done());
  CHECK(third.at(0).done());
}

TEST_CASE("a payload of another size than its receiver expects is not copied") {
  World world("nvp", 2, 1, {1, 1});
  Broadcast longer(2, 1, kBytes + 1), expected(2, 2, kBytes);
  longer.start(world, 0);
  expected.start(world, 1);
  world.settle();
  CHECK(expected.at(1).failure() == "endpoint 0 sent 20001 bytes with tag 16384, where 20000 are expected");
  CHECK(expected.data[1] == std::vector<std::byte>(kBytes));
  CHECK(longer.at(0).done());
}

TEST_CASE("a death ends the sends that wait for the dead endpoint's answer") {
  World world("nvp", 3, 1, {1, 1, 1});
  Broadcast broadcast(3);
  broadcast.start(world, 1);
  broadcast.start(world, 0);
  world.settle();
  REQUIRE(broadcast.at(1).state() == Schedule::State::kRunning);
  world.transport(1).peer_gone(EndpointId(2));
  world.engine(1).endpoint_gone(EndpointId(2));
  CHECK(broadcast.at(1).failure() == "endpoint 2 is gone");
}

// ---- Between processes ----------------------------------------------------------------------------------------------

constexpr int kMembers = 3;

// What the processes of a test share.
struct Processes {
  Fabric fabric = make_fabric("nvp", kMembers);
  Descriptor fd = *create_segment("ingot-test-directory", cross_memory_bytes(kMembers));
  Segment directory = *Segment::map(fd.get(), Segment::Access::kReadWrite);
};

// One process's endpoint.
class Member {
 public:
  Member(Processes& shared, int self)
      : self_(self),
        transport_(make_endpoint("nvp", shared.fabric, EndpointId(static_cast<std::uint16_t>(self)))),
        copies_(shared.directory.bytes(), transport_->self()),
        engine_(*transport_, kMembers, {}, {&copies_, 1000}) {}

  ProgressEngine& engine() { return engine_; }
  TreeSeat seat(int root) const {
    Tree tree(kMembers, root);
    tree.children[static_cast<std::size_t>(root)] = {(root + 1) % kMembers};
    tree.children[static_cast<std::size_t>((root + 1) % kMembers)] = {(root + 2) % kMembers};
    return seat_of(tree, self_);
  }
  bool run(Schedule& schedule) {
    INGOT_CHECK(engine_.start(kGroup, schedule).ok());
    while (schedule.state() == Schedule::State::kRunning) poll();
    return schedule.done();
  }
  void poll() {
    if (engine_.poll(now_ns_ += 1000) == 0) ::sched_yield();
  }
  // Broadcasts and sums of many sizes from each root; true if all results are right.
  bool exchange() {
    for (const std::size_t count : {1u, 200u, 5'000u, 20'000u}) {
      for (int root = 0; root < kMembers; ++root) {
        std::vector<std::uint64_t> values(count, self_ == root ? 5 : 0);
        auto broadcast = *make_broadcast(seat(root), std::as_writable_bytes(std::span(values)), 30'000);
        if (!run(broadcast) || values != std::vector<std::uint64_t>(count, 5)) return false;
        std::fill(values.begin(), values.end(), 1 + static_cast<std::uint64_t>(self_));
        auto sum = *make_allreduce(seat(root), reducer<std::uint64_t>(ReduceOperation::kSum),
                                   std::as_writable_bytes(std::span(values)), 30'000);
        if (!run(sum) || values != std::vector<std::uint64_t>(count, 6)) return false;
      }
    }
    auto barrier = *make_barrier(seat(0));
    const bool met = run(barrier);
    for (int i = 0; i < 100 || transport_->flush(); ++i) poll();  // the last message may still be on its way out
    return met;
  }

 private:
  const int self_;
  std::unique_ptr<Transport> transport_;
  CrossMemory copies_;
  ProgressEngine engine_;
  std::uint64_t now_ns_ = 1;
};

TEST_CASE("processes copy from one another") {
  Processes shared;
  const auto member = [&](int self) { return Member(shared, self).exchange() ? 0 : 1; };
  Child one([&] { return member(1); }), two([&] { return member(2); });
  Member zero(shared, 0);
  CHECK(zero.exchange());
  CHECK(zero.engine().counters().copied > 0);
  CHECK(zero.engine().counters().offers_refused == 0);
  CHECK(one.wait() == 0);
  CHECK(two.wait() == 0);
}

// One process cannot be read, and cannot read: as root reads every process, it takes another user's rights then.
TEST_CASE("where the kernel forbids copies between two processes, lines carry the payload") {
  Processes shared;
  Child one([&] {
    if (::geteuid() == 0) INGOT_CHECK(::setresuid(65534, 65534, 65534) == 0);
    INGOT_CHECK(::prctl(PR_SET_DUMPABLE, 0) == 0);
    Member member(shared, 1);
    const bool right = member.exchange();
    return right && (::geteuid() != 65534 || member.engine().counters().copied == 0) ? 0 : 1;
  });
  Child two([&] { return Member(shared, 2).exchange() ? 0 : 1; });
  Member zero(shared, 0);
  CHECK(zero.exchange());
  CHECK(zero.engine().counters().sent > 0);
  CHECK(one.wait() == 0);
  CHECK(two.wait() == 0);
}

TEST_CASE("a process that dies between its offer and the copy gives its receiver nothing") {
  Processes shared;
  Child root([&] {
    Member member(shared, 0);
    std::vector<std::byte> data(100'000, std::byte{5});
    auto broadcast = *make_broadcast(member.seat(0), data, 100'000);
    member.run(broadcast);  // the others do not start, so it waits
    return 0;
  });
  Member one(shared, 1);
  while (one.engine().counters().held == 0) one.poll();
  root.kill();
  root.wait();
  std::vector<std::byte> data(100'000);
  auto broadcast = *make_broadcast(one.seat(0), data, 100'000);
  REQUIRE(one.engine().start(kGroup, broadcast).ok());
  for (int i = 0; i < 1000; ++i) one.poll();
  CHECK(broadcast.state() == Schedule::State::kRunning);
  one.engine().endpoint_gone(EndpointId(0));
  CHECK(broadcast.failure() == "endpoint 0 is gone");
}

}  // namespace
}  // namespace ingot::test
