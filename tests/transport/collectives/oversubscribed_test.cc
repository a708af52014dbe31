// Many endpoints as threads with real event loops on few cores: all operations finish, and no loop spins.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>

#include "tests/seeds.h"
#include "tests/transport/collectives/world.h"
#include "transport/collectives/atomic_broadcast.h"
#include "transport/host/event_loop.h"
#include "transport/host/limits.h"

namespace ingot::test {
namespace {

struct Counted {
  Counter wakeups, sleeps, polls;
};

// Whether it holds at one of many checks: some of the threads may wait for a core for seconds.
bool at_some_time(const std::function<bool()>& holds) {
  constexpr int kPollsMax = 1000;
  for (int i = 0; i < kPollsMax; ++i) {
    if (holds()) return true;
  }
  return false;
}

// Runs one pollable per endpoint, each in its own thread with a loop, and stops them.
class Threads {
 public:
  using Make = std::function<std::unique_ptr<Pollable>(Transport& transport)>;

  // `make` is called in the endpoint's thread.
  Threads(std::string_view kind, int endpoints, const Make& make)
      : fabric_(make_fabric(kind, endpoints)), counted_(static_cast<std::size_t>(endpoints)) {
    for (const EndpointId self : first_endpoints(endpoints)) {
      Counted& counted = counted_[self.value()];
      auto loop = EventLoop::create(WaitOptions::shared_core(), {&counted.wakeups, &counted.sleeps, &counted.polls});
      REQUIRE(loop.ok());
      loops_.push_back(*std::move(loop));
    }
    for (const EndpointId self : first_endpoints(endpoints)) {
      threads_.emplace_back([this, self, kind, make] {
        const auto transport = make_endpoint(kind, fabric_, self);
        const auto pollable = make(*transport);
        loops_[self.value()]->add(*pollable, fabric_, self);
        loops_[self.value()]->run();
      });
    }
  }

  ~Threads() {
    for (const auto& loop : loops_) loop->stop();
    for (auto& thread : threads_) thread.join();
  }

  std::uint64_t polls() const { return sum(&Counted::polls); }
  std::uint64_t sleeps() const { return sum(&Counted::sleeps); }

  // True if no loop runs for a while: all sleep, without wake-ups.
  bool come_to_rest() const {
    return at_some_time([this] {
      const std::uint64_t before = polls();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      return polls() == before;
    });
  }

 private:
  std::uint64_t sum(Counter Counted::*counter) const {
    std::uint64_t total = 0;
    for (const Counted& counted : counted_) total += (counted.*counter).get();
    return total;
  }

  Fabric fabric_;
  std::vector<Counted> counted_;
  std::vector<std::unique_ptr<EventLoop>> loops_;
  std::vector<std::thread> threads_;
};

void wait_for(const std::atomic<int>& count, int target) {
  while (count.load() < target) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// State that all members of a run share. Written before they start, except for the counts.
struct Plan {
  int endpoints = 2;
  int rounds = 10;
  std::vector<Tree> trees;
  std::atomic<int> finished{0};
  std::atomic<int> wrong{0};
  std::atomic<std::uint64_t> received{0};  // messages, when finished
};

// Starts its group's operations, two of each kind in flight, and checks the results.
class Member final : public Pollable {
 public:
  Member(Transport& transport, Plan& plan) : engine_(transport, plan.endpoints), plan_(plan) {
    for (std::size_t i = 0; i < slots_.size(); ++i) make(slots_[i], plan.trees[i % plan.trees.size()], i);
  }

  int poll(std::uint64_t now_ns) override {
    int work = 0;
    if (can_start()) work += start(slots_[started_ % slots_.size()]);
    work += engine_.poll(now_ns);
    if (ended_ == last() && !told_) {
      told_ = true;
      plan_.received += engine_.counters().received;
      ++plan_.finished;
    }
    return work;
  }
  bool readable() override { return engine_.readable() || can_start(); }
  std::uint64_t deadline_ns() const override { return engine_.deadline_ns(); }

 private:
  struct Slot {
    std::array<std::uint64_t, 5> values{};
    std::optional<Schedule> schedule;
    bool root = false;
    bool running = false;
    std::uint64_t operation = 0;
  };

  bool can_start() const { return started_ < last() && !slots_[started_ % slots_.size()].running; }
  std::uint64_t last() const { return static_cast<std::uint64_t>(plan_.rounds) * slots_.size(); }

  void make(Slot& slot, const Tree& tree, std::size_t kind) {
    const auto seat = TreeSeat::of(tree, first_endpoints(plan_.endpoints), engine_.self(), plan_.endpoints);
    INGOT_CHECK(seat.ok());
    const auto data = std::as_writable_bytes(std::span(slot.values));
    slot.root = !seat->parent;
    auto schedule = kind % 3 == 0   ? make_broadcast(*seat, data)
                    : kind % 3 == 1 ? make_allreduce(*seat, reducer<std::uint64_t>(ReduceOperation::kSum), data)
                                    : make_barrier(*seat);
    INGOT_CHECK(schedule.ok());
    slot.schedule = *std::move(schedule);
    slot.schedule->on_end([this, &slot, kind](Schedule& ended) { check(slot, kind, ended); });
  }

  int start(Slot& slot) {
    slot.operation = started_++;
    slot.running = true;
    const std::size_t kind = slot.operation % slots_.size() % 3;
    const bool own = kind == 1 || slot.root;
    slot.values.fill(own ? slot.operation + (kind == 1 ? engine_.self().value() : 0) : 0);
    INGOT_CHECK(engine_.start(GroupId(1), *slot.schedule).ok());
    return 1;
  }

  void check(Slot& slot, std::size_t kind, const Schedule& ended) {
    const auto members = static_cast<std::uint64_t>(plan_.endpoints);
    const std::uint64_t right =
        kind % 3 == 0 ? slot.operation : members * slot.operation + members * (members - 1) / 2;
    const bool values_right = kind % 3 == 2 || std::all_of(slot.values.begin(), slot.values.end(),
                                                            [right](std::uint64_t value) { return value == right; });
    if (!ended.done() || !values_right) ++plan_.wrong;
    slot.running = false;
    ++ended_;
  }

  ProgressEngine engine_;
  Plan& plan_;
  std::array<Slot, 6> slots_;
  std::uint64_t started_ = 0;
  std::uint64_t ended_ = 0;
  bool told_ = false;
};

void run_members(const std::string& kind, int endpoints, int rounds) {
  Plan plan;
  plan.endpoints = endpoints;
  plan.rounds = rounds;
  Prng random(testing::drawn_seed());
  for (int i = 0; i < 6; ++i) plan.trees.push_back(random_tree(random, endpoints, 6));
  Threads threads(kind, endpoints, [&](Transport& transport) { return std::make_unique<Member>(transport, plan); });
  wait_for(plan.finished, endpoints);
  CHECK(plan.wrong == 0);
  CHECK(threads.come_to_rest());
  // A round that finds work received a message or started one operation. A round that finds none yields, and
  // kYieldsSharedCore yields are followed by a sleep. A sleep ends with a message or a retry.
  const std::uint64_t work = plan.received.load() + static_cast<std::uint64_t>(endpoints * rounds * 6);
  INFO(kind << ": " << threads.polls() << " rounds, " << threads.sleeps() << " sleeps, " << work << " pieces of work");
  CHECK(threads.polls() <= (work + threads.sleeps() + static_cast<std::uint64_t>(endpoints)) * (kYieldsSharedCore + 2));
  CHECK(threads.sleeps() <= 2 * work);
}

TEST_CASE("48 endpoints on these few cores finish their collectives and sleep") {
  run_members(GENERATE("nvp", "srbp"), 48, 20);
}

TEST_CASE("a few endpoints with their own loops finish their collectives and sleep") {
  run_members(GENERATE("nvp", "srbp"), 3, 300);
}

// A root that fills the window and the channel, and sleeps until a receiver goes on.
class Flood final : public Pollable {
 public:
  Flood(Transport& transport, std::atomic<bool>& open, std::atomic<int>& finished, std::size_t bytes)
      : engine_(transport, 2), open_(open), finished_(finished), data_(bytes) {
    Tree tree(2, 0);
    tree.children[0] = {1};
    for (int i = 0; i < 60; ++i) {
      schedules_.push_back(*make_broadcast(*TreeSeat::of(tree, first_endpoints(2), engine_.self(), 2), data_));
    }
  }
  int poll(std::uint64_t now_ns) override {
    const bool may_start = engine_.self() == EndpointId(0) || open_.load();
    int work = 0;
    for (; may_start && started_ < schedules_.size(); ++started_, ++work) {
      INGOT_CHECK(engine_.start(GroupId(1), schedules_[started_]).ok());
    }
    work += engine_.poll(now_ns);
    const bool all_done = std::all_of(schedules_.begin(), schedules_.end(), [](const Schedule& s) { return s.done(); });
    if (all_done && !std::exchange(told_, true)) ++finished_;
    return work;
  }
  bool readable() override { return engine_.readable(); }
  // A member that has not started yet checks now and then whether it may.
  std::uint64_t deadline_ns() const override {
    return engine_.self() == EndpointId(0) || told_ ? engine_.deadline_ns() : monotonic_ns() + 20'000'000;
  }

 private:
  ProgressEngine engine_;
  std::atomic<bool>& open_;
  std::atomic<int>& finished_;
  std::vector<std::byte> data_;
  std::vector<Schedule> schedules_;
  std::size_t started_ = 0;
  bool told_ = false;
};

TEST_CASE("a sender that cannot send sleeps") {
  const std::string kind = GENERATE("nvp", "srbp");
  const std::size_t bytes = GENERATE(8, 3000, 100'000);
  std::atomic<bool> open{false};
  std::atomic<int> finished{0};
  Threads threads(kind, 2,
                  [&](Transport& transport) { return std::make_unique<Flood>(transport, open, finished, bytes); });
  // After the root has sent all that it can. The member checks every 20 ms, the root at most every 5 ms; at most this
  // many yields follow each check.
  CHECK(at_some_time([&] {
    const std::uint64_t before = threads.polls();
    const auto start = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const std::uint64_t polls = threads.polls() - before;
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
    const auto samples = static_cast<std::uint64_t>(waited.count()) * 2 / 5 + 10;
    return polls > 0 && polls <= samples * (kYieldsSharedCore + 2);
  }));
  open = true;
  wait_for(finished, 2);
  CHECK(threads.come_to_rest());
}

// Submits messages, and records its deliveries.
class Talker final : public Pollable {
 public:
  Talker(Transport& transport, const OrderedTree& tree, int endpoints, std::uint64_t messages,
         std::vector<std::pair<EndpointId, std::uint64_t>>& log, std::atomic<int>& finished)
      : messages_(messages), expected_(messages * tree.members.size()), log_(log), finished_(finished) {
    AtomicBroadcast::Options options;
    options.tree = tree;
    options.deliver = [this](const AtomicBroadcast::Delivery& delivery) {
      log_.emplace_back(delivery.origin, delivery.number);
      if (log_.size() == expected_) ++finished_;
    };
    auto broadcast = AtomicBroadcast::create(transport, endpoints, std::move(options));
    INGOT_CHECK(broadcast.ok());
    broadcast_ = *std::move(broadcast);
  }
  int poll(std::uint64_t now_ns) override {
    int work = 0;
    const std::array<std::byte, 20> payload{};
    for (; submitted_ < messages_ && broadcast_->submit(payload).ok(); ++submitted_) ++work;
    return work + broadcast_->poll(now_ns);
  }
  bool readable() override { return broadcast_->readable(); }
  std::uint64_t deadline_ns() const override { return broadcast_->deadline_ns(); }

 private:
  const std::uint64_t messages_;
  const std::uint64_t expected_;
  std::vector<std::pair<EndpointId, std::uint64_t>>& log_;
  std::atomic<int>& finished_;
  std::uint64_t submitted_ = 0;
  std::unique_ptr<AtomicBroadcast> broadcast_;
};

TEST_CASE("threads that all submit deliver the same in the same order") {
  const std::string kind = GENERATE("nvp", "srbp");
  constexpr int kEndpoints = 8;
  Prng random(testing::drawn_seed());
  const OrderedTree tree{first_endpoints(kEndpoints), random_tree(random, kEndpoints, 3)};
  std::vector<std::vector<std::pair<EndpointId, std::uint64_t>>> logs(kEndpoints);
  std::atomic<int> finished{0};
  {
    Threads threads(kind, kEndpoints, [&](Transport& transport) {
      return std::make_unique<Talker>(transport, tree, kEndpoints, 300, logs[transport.self().value()], finished);
    });
    wait_for(finished, kEndpoints);
    CHECK(threads.come_to_rest());
  }
  for (const auto& log : logs) CHECK(log == logs[0]);
}

}  // namespace
}  // namespace ingot::test
