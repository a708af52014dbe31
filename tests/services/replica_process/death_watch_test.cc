// The kernel alone makes every watch report a killed writer, exactly once. Here each watch stands for one process.
#include <sched.h>

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/check.h"
#include "replication/stable/segment.h"
#include "replication/stable/view.h"
#include "services/replica_process/death_watch.h"
#include "tests/transport/host/child.h"

namespace ingot {
namespace {

constexpr std::size_t kSegmentBytes = 1 << 20;

// A process that opens a segment and waits to be killed.
class Writer {
 public:
  Writer(std::uint16_t replica, std::uint32_t incarnation) : replica_(replica), incarnation_(incarnation) {
    auto fd = create_segment("ingot-test-watch", kSegmentBytes);
    REQUIRE(fd.ok());
    fd_ = *std::move(fd);
    memory_ = std::make_shared<Segment>(*Segment::map(fd_.get(), Segment::Access::kReadOnly));
  }

  void start() {
    child_ = std::make_unique<Child>([this] {
      auto stable = StableSegment::open(fd_.get(), EndpointId(replica_), Incarnation(incarnation_), kSegmentBytes);
      INGOT_CHECK(stable.ok());
      for (;;) ::pause();
      return 0;
    });
  }
  void wait_until_open() const {
    while (StableView::writer_state(memory_->bytes()) != WriterState::kAlive) ::sched_yield();
  }
  void kill() { child_.reset(); }

  void show(DeathWatch& watch) const {
    watch.watch(EndpointId(replica_), Incarnation(incarnation_), memory_->bytes(), memory_);
  }

 private:
  const std::uint16_t replica_;
  const std::uint32_t incarnation_;
  Descriptor fd_;
  std::shared_ptr<Segment> memory_;
  std::unique_ptr<Child> child_;
};

// The deaths that a watch has reported: replica and incarnation, in order.
class Told {
 public:
  void operator()(EndpointId replica, Incarnation incarnation) {
    const std::lock_guard lock(mutex_);
    told_.emplace_back(replica.value(), incarnation.value());
  }
  std::vector<std::pair<int, int>> so_far() const {
    const std::lock_guard lock(mutex_);
    return told_;
  }
  void wait_for(std::size_t count) const {
    while (so_far().size() < count) ::sched_yield();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<int, int>> told_;
};

using Deaths = std::vector<std::pair<int, int>>;

}  // namespace

TEST_CASE("Every watch reports every death once, whichever of them the kernel wakes") {
  Writer one(0, 1), two(1, 1);
  one.start();
  two.start();
  one.wait_until_open();
  two.wait_until_open();
  Told first, second, third;
  DeathWatch watches[] = {DeathWatch(std::ref(first)), DeathWatch(std::ref(second)), DeathWatch(std::ref(third))};
  for (DeathWatch& watch : watches) {
    one.show(watch);
    two.show(watch);
  }
  two.kill();
  for (const Told* told : {&first, &second, &third}) {
    told->wait_for(1);
    CHECK(told->so_far() == Deaths{{1, 1}});
  }
  one.kill();
  for (const Told* told : {&first, &second, &third}) {
    told->wait_for(2);
    CHECK(told->so_far() == Deaths{{1, 1}, {0, 1}});
  }
  for (DeathWatch& watch : watches) CHECK(watch.deaths().get() == 2);
}

TEST_CASE("A writer may be watched before it starts or when it is dead, and so may its next incarnation") {
  Told told;
  DeathWatch watch(std::ref(told));
  Writer late(3, 1);
  late.show(watch);
  late.start();
  late.wait_until_open();
  late.kill();
  told.wait_for(1);
  CHECK(told.so_far() == Deaths{{3, 1}});

  Writer again(3, 2);
  again.start();
  again.wait_until_open();
  again.kill();
  again.show(watch);
  told.wait_for(2);
  CHECK(told.so_far() == Deaths{{3, 1}, {3, 2}});
}

TEST_CASE("The destructor ends a watch that has no writer, and one whose writer lives") {
  Writer writer(0, 1);
  writer.start();
  writer.wait_until_open();
  Told told;
  {
    DeathWatch nobody(std::ref(told));
    DeathWatch watch(std::ref(told));
    writer.show(watch);
  }
  CHECK(told.so_far().empty());
}

}  // namespace ingot
