// A schedule that runs again and again allocates nothing. Counts all allocations of the process, so not for sanitizers,
// which have their own.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>

#include "tests/transport/collectives/world.h"

namespace {
std::atomic<std::uint64_t> allocations{0};
}

// Counts the whole test's allocations; C++ requires that all of these are replaced together. Not inlined: GCC would
// pair a new with a free, and warn.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace ingot::test {
namespace {

// An endpoint that alternates between a barrier and a sum in chunks, each built once.
class Repeater {
 public:
  Repeater(ProgressEngine& engine, const Tree& tree) : engine_(engine), values_(40) {
    const auto seat = *TreeSeat::of(tree, first_endpoints(tree.size()), engine.self(), tree.size());
    schedules_.push_back(*make_barrier(seat));
    schedules_.push_back(*make_allreduce(seat, reducer<std::uint64_t>(ReduceOperation::kSum),
                                         std::as_writable_bytes(std::span(values_)), 64));
  }

  // Starts the next operation if the last one is done and fewer than `count` have run.
  void go_on(int count) {
    Schedule& last = schedules_[static_cast<std::size_t>(started_ % 2)];
    if (last.state() == Schedule::State::kRunning || started_ == count) return;
    ++started_;
    MUST(engine_.start(GroupId(1), schedules_[static_cast<std::size_t>(started_ % 2)]).ok());
  }
  bool finished(int count) const {
    return started_ == count && schedules_[static_cast<std::size_t>(started_ % 2)].done();
  }

 private:
  ProgressEngine& engine_;
  std::vector<std::uint64_t> values_;
  std::vector<Schedule> schedules_;
  int started_ = 0;
};

TEST_CASE("a schedule that is run again and again allocates nothing") {
  const std::string kind = GENERATE("nvp", "srbp");
  const int rounds = std::getenv("INGOT_LONG_TESTS") != nullptr ? 1'000'000 : 20'000;
  World world(kind, 3, 1);
  Tree tree(3, 1);
  tree.children[1] = {0, 2};
  std::vector<Repeater> repeaters;
  for (int i = 0; i < 3; ++i) repeaters.emplace_back(world.engine(i), tree);
  const auto run_to = [&](int count) {
    while (!std::all_of(repeaters.begin(), repeaters.end(), [&](const Repeater& r) { return r.finished(count); })) {
      for (Repeater& repeater : repeaters) repeater.go_on(count);
      world.step();
    }
  };
  run_to(2000);  // by then every buffer has reached its largest size
  const std::uint64_t warm = allocations.load();
  CHECK(warm > 0);
  run_to(2000 + rounds);
  const std::uint64_t after = allocations.load();
  CHECK(after == warm);
}

}  // namespace
}  // namespace ingot::test
