// The clock of a group's state, on random schedules: leases that are timed by it never end early, whatever stops, dies
// or is slow, and end soon after their time while nothing does.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/prng.h"
#include "replication/replica/state_clock.h"
#include "replication/store/limits.h"
#include "tests/seeds.h"

namespace ingot {
namespace {

constexpr std::uint64_t kMsNs = 1'000'000;

// A log that decides one leader's ticks, and grants between them. Time is what a test lets pass.
class Group {
 public:
  explicit Group(std::uint64_t seed) : rng_(seed) { state_.runs = true; }

  // Grants are decided now; each is a time at which one was decided, and what the state's clock showed then.
  void grant() {
    decide(now_ns_);
    grants_.push_back({now_ns_, clock_ms_});
  }

  // One round of the leader, which then waits for `pause_ns`. A tick that it proposes is decided `decision_ns` later,
  // or is lost; a grant before it in the log may be decided as late.
  void round(std::uint64_t pause_ns, std::uint64_t decision_ns, bool lost) {
    decide(now_ns_);
    leader_.note(state_, leads_, now_ns_);
    now_ns_ += kMsNs / 10;
    if (leader_.due_ns() <= now_ns_ && leader_.look(state_, leads_, now_ns_)) {
      if (!under_way_ && !lost) under_way_ = {leader_.tick(), now_ns_ + decision_ns};
      const std::uint64_t late_ns = now_ns_ + rng_.below(decision_ns + 1);
      if (under_way_ && rng_.chance(0.3)) late_grants_.push_back(std::min(late_ns, under_way_->decided_ns));
    }
    now_ns_ += pause_ns;
  }

  // Another replica leads. What its predecessor has proposed is decided or not.
  void another_leader() {
    if (under_way_) now_ns_ = std::max(now_ns_, under_way_->decided_ns);  // so all that is late is decided by then
    if (rng_.chance(0.5)) decide(now_ns_);
    decide_grants();
    under_way_.reset();
    leader_ = StateClock();
    leads_ = Ballot(leads_.value() + 1);
  }

  void stop_clock() {
    state_.runs = false;
    leader_.note(state_, leads_, now_ns_);
  }
  void start_clock() { state_.runs = true; }

  std::uint64_t now_ns() const { return now_ns_; }
  std::uint64_t ticks() const { return state_.last.number; }
  std::int64_t late_ms_max() const { return late_ms_max_; }

 private:
  struct Grant {
    std::uint64_t decided_ns;
    std::int64_t clock_ms;
  };
  struct UnderWay {
    Tick tick;
    std::uint64_t decided_ns;
  };

  void decide_grants() {
    for (const std::uint64_t decided_ns : late_grants_) grants_.push_back({decided_ns, clock_ms_});
    late_grants_.clear();
  }

  // The tick that is under way, if its decision's time has come; late grants come before it.
  void decide(std::uint64_t now_ns) {
    if (!under_way_ || now_ns < under_way_->decided_ns) return;
    decide_grants();
    const Tick tick = under_way_->tick;
    const std::uint64_t at_ns = under_way_->decided_ns;
    under_way_.reset();
    REQUIRE(tick.ms <= kTickMaxMs);
    if (tick.number <= state_.last.number) return;
    if (tick.leadership != state_.last.leadership) restored_ms_ = clock_ms_;
    state_.last = tick;
    clock_ms_ += tick.ms;
    for (const Grant& grant : grants_) look(grant, at_ns, tick.ms);
  }

  // A lease that was granted for so long as has passed is still there. One that this tick ends was there before it.
  void look(const Grant& grant, std::uint64_t at_ns, std::int64_t tick_ms) {
    REQUIRE(at_ns >= grant.decided_ns);
    const auto passed_ms = static_cast<std::int64_t>((at_ns - grant.decided_ns) / kMsNs);
    const std::int64_t counted_ms = clock_ms_ - std::max(grant.clock_ms, restored_ms_);
    REQUIRE(counted_ms <= passed_ms + kLeaseGraceMs);
    late_ms_max_ = std::max(late_ms_max_, passed_ms + kLeaseGraceMs - (counted_ms - tick_ms));
  }

  Prng rng_;
  std::uint64_t now_ns_ = 1'000 * kMsNs;
  StateMachine::Clock state_;
  std::int64_t clock_ms_ = 0;
  std::int64_t restored_ms_ = 0;
  std::vector<Grant> grants_;
  std::vector<std::uint64_t> late_grants_;  // in the log before the tick that is under way; when they are decided
  std::optional<UnderWay> under_way_;
  StateClock leader_;
  Ballot leads_{1};
  std::int64_t late_ms_max_ = 0;
};

TEST_CASE("No lease ends early, whatever stops, dies, is slow or is lost") {
  for (const std::uint64_t seed : testing::seeds(200)) {
    INFO("seed " << seed);
    Prng rng(seed);
    Group group(seed);
    const std::uint64_t slow_ns = (1 + rng.below(1'000)) * kMsNs;
    for (int i = 0; i < 2'000; ++i) {
      if (rng.chance(0.05)) group.grant();
      if (rng.chance(0.005)) group.another_leader();
      if (rng.chance(0.01)) group.stop_clock();
      if (rng.chance(0.3)) group.start_clock();
      const std::uint64_t pause_ns = rng.below(rng.chance(0.02) ? 5'000 * kMsNs : 50 * kMsNs);
      group.round(pause_ns, rng.below(rng.chance(0.1) ? slow_ns : 5 * kMsNs), rng.chance(0.05));
    }
    REQUIRE(group.ticks() > 10);
  }
}

TEST_CASE("While nothing stops, a lease ends less than a second late, however long it lasts") {
  for (const std::uint64_t seed : testing::seeds(20)) {
    INFO("seed " << seed);
    Prng rng(seed);
    Group group(seed);
    for (int i = 0; i < 50; ++i) group.round(rng.below(5 * kMsNs), rng.below(5 * kMsNs), false);
    for (int i = 0; i < 20'000; ++i) {
      if (i < 1'000 && rng.chance(0.1)) group.grant();
      group.round(rng.below(5 * kMsNs), rng.below(5 * kMsNs), false);
    }
    REQUIRE(group.late_ms_max() < 1'000);
  }
}

TEST_CASE("Ticks come at most once in a period, none while the time stands, and the next at once while one left work") {
  StateClock clock;
  StateMachine::Clock state;
  const Ballot leads(3);
  REQUIRE_FALSE(clock.look(state, leads, kMsNs));
  REQUIRE(clock.due_ns() == Pollable::kNever);
  state.runs = true;
  clock.note(state, Ballot(0), kMsNs);
  REQUIRE(clock.due_ns() == Pollable::kNever);  // it does not lead
  clock.note(state, leads, kMsNs);
  REQUIRE(clock.look(state, leads, kMsNs));
  REQUIRE(clock.tick() == Tick{3, 1, 0});  // the first one of a leadership
  REQUIRE_FALSE(clock.look(state, leads, 2 * kMsNs));
  state.last = {3, 1, 0};
  clock.note(state, leads, 2 * kMsNs);
  REQUIRE_FALSE(clock.look(state, leads, 3 * kMsNs));
  REQUIRE(clock.due_ns() == (1 + kTickPeriodMs) * kMsNs);
  REQUIRE(clock.look(state, leads, clock.due_ns()));
  REQUIRE(clock.tick() == Tick{3, 2, static_cast<std::uint32_t>(kTickPeriodMs)});
  state.last = {3, 2, 0};
  state.behind = true;
  REQUIRE(clock.look(state, leads, (2 + kTickPeriodMs) * kMsNs));
  REQUIRE(clock.tick() == Tick{3, 3, 1});
}

// Leases that end and others that come while a tick is under way made the clock forget that tick, and the next one
// counted all of the time that the first one's decision had taken: a lease could end early.
TEST_CASE("a tick that was under way while the clock stood counts little of the time until it is decided") {
  StateClock clock;
  StateMachine::Clock state;
  state.runs = true;
  state.last = {3, 7, 0};
  REQUIRE_FALSE(clock.look(state, Ballot(3), 1'000 * kMsNs));
  REQUIRE(clock.look(state, Ballot(3), 1'250 * kMsNs));
  state.runs = false;
  clock.note(state, Ballot(3), 1'251 * kMsNs);
  state.runs = true;
  REQUIRE_FALSE(clock.look(state, Ballot(3), 1'252 * kMsNs));
  state.last = {3, 8, 0};
  REQUIRE_FALSE(clock.look(state, Ballot(3), 1'500 * kMsNs));
  REQUIRE(clock.look(state, Ballot(3), 1'700 * kMsNs));
  REQUIRE(clock.tick() == Tick{3, 9, static_cast<std::uint32_t>(200 + kTickDecisionMaxMs)});
}

TEST_CASE("A tick that is not decided is proposed again under its number, and a long pause counts as one tick's most") {
  StateClock clock;
  StateMachine::Clock state;
  state.runs = true;
  state.last = {3, 7, 0};
  REQUIRE_FALSE(clock.look(state, Ballot(3), kMsNs));
  const std::uint64_t later_ns = 3'600'000 * kMsNs;
  REQUIRE(clock.look(state, Ballot(3), later_ns));
  REQUIRE(clock.tick() == Tick{3, 8, kTickMaxMs});
  REQUIRE_FALSE(clock.look(state, Ballot(3), later_ns + kTickMaxMs * kMsNs - 1));
  REQUIRE(clock.look(state, Ballot(3), later_ns + kTickMaxMs * kMsNs));
  REQUIRE(clock.tick().number == 8);
}

}  // namespace
}  // namespace ingot
