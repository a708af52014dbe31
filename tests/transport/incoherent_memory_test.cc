// The incoherent machine itself: it permits what transport/memory.h permits, and forbids what that forbids.
#include <catch2/catch.hpp>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "tests/transport/incoherent_memory.h"

using namespace ingot;
using namespace ingot::test;

namespace {

constexpr Site kRelease = Site::kNvpNotify;
constexpr Site kAcquire = Site::kNvpPoll;

using Outcome = std::pair<std::uint32_t, std::uint32_t>;
using Body = std::function<void(IncoherentMemory&, IncoherentMachine&, Outcome&)>;

// The outcomes that two cores may observe over many schedules.
std::set<Outcome> outcomes(const Body& first, const Body& second, std::set<std::string>* failures = nullptr) {
  std::set<Outcome> seen;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    IncoherentMachine machine({.cores = 2, .inbox_lines = 4, .seed = seed});
    Outcome outcome{9, 9};
    IncoherentMemory one(machine, 0), two(machine, 1);
    machine.start(0, [&] { first(one, machine, outcome); });
    machine.start(1, [&] { second(two, machine, outcome); });
    machine.run([] { return true; });
    seen.insert(outcome);
    if (failures != nullptr && !machine.failure().empty()) failures->insert(machine.failure());
  }
  return seen;
}

std::size_t cell(IncoherentMemory& memory, std::uint32_t line) { return memory.line(EndpointId(0), line); }

// Message passing: data, then a flag; the other core reads the flag, then the data.
std::set<Outcome> message_passing(Site store, Site load) {
  return outcomes(
      [=](IncoherentMemory& m, IncoherentMachine&, Outcome&) {
        m.store_word(cell(m, 0), 0, 1, Site::kRelaxed);
        m.store_word(cell(m, 1), 0, 1, store);
      },
      [=](IncoherentMemory& m, IncoherentMachine&, Outcome& seen) {
        seen.first = m.load_word(cell(m, 1), 0, load);
        seen.second = m.load_word(cell(m, 0), 0, Site::kRelaxed);
      });
}

// Store buffering: each core stores, then reads the other's cell.
std::set<Outcome> store_buffering(bool fenced) {
  const auto side = [fenced](std::uint32_t mine, std::uint32_t theirs, std::uint32_t Outcome::*place) {
    return [=](IncoherentMemory& m, IncoherentMachine&, Outcome& seen) {
      m.store_word(cell(m, mine), 0, 1, kRelease);
      if (fenced) m.store_load_fence();
      seen.*place = m.load_word(cell(m, theirs), 0, kAcquire);
    };
  };
  return outcomes(side(0, 1, &Outcome::first), side(1, 0, &Outcome::second));
}

}  // namespace

TEST_CASE("release and acquire make earlier stores visible; weaker orders do not") {
  CHECK(message_passing(kRelease, kAcquire).count({1, 0}) == 0);
  CHECK(message_passing(Site::kRelaxed, kAcquire).count({1, 0}) == 1);
  CHECK(message_passing(kRelease, Site::kRelaxed).count({1, 0}) == 1);
  for (const Outcome& possible : {Outcome{0, 0}, Outcome{0, 1}, Outcome{1, 1}}) {
    CHECK(message_passing(kRelease, kAcquire).count(possible) == 1);
  }
}

TEST_CASE("only the fence keeps a store before a later load") {
  CHECK(store_buffering(false).count({0, 0}) == 1);
  CHECK(store_buffering(true).count({0, 0}) == 0);
}

TEST_CASE("a core never sees an older value of a cell after a newer one") {
  const auto seen = outcomes(
      [](IncoherentMemory& m, IncoherentMachine&, Outcome&) {
        for (std::uint32_t v = 1; v <= 5; ++v) m.store_word(cell(m, 0), 0, v, Site::kRelaxed);
      },
      [](IncoherentMemory& m, IncoherentMachine&, Outcome& out) {
        out.first = m.load_word(cell(m, 0), 0, Site::kRelaxed);
        out.second = m.load_word(cell(m, 0), 0, Site::kRelaxed);
      });
  for (const Outcome& each : seen) CHECK(each.first <= each.second);
  CHECK(seen.size() > 10);
}

TEST_CASE("draws are unique and make earlier stores visible") {
  const auto draw = [](std::uint32_t Outcome::*place) {
    return [place](IncoherentMemory& m, IncoherentMachine& machine, Outcome& out) {
      m.store_word(cell(m, 1), m.self().value(), 1, Site::kRelaxed);
      out.*place = m.draw(cell(m, 2), Site::kSrbpDrawAcquire, Site::kSrbpDrawRelease);
      const bool second = out.*place == 1;
      if (second && m.load_word(cell(m, 1), 1u - m.self().value(), Site::kRelaxed) != 1) machine.fail("lost");
    };
  };
  std::set<std::string> failures;
  const auto seen = outcomes(draw(&Outcome::first), draw(&Outcome::second), &failures);
  CHECK(seen == std::set<Outcome>{{0, 1}, {1, 0}});
  CHECK(failures.empty());
}

TEST_CASE("payload that no order separates is reported") {
  const std::byte data[4]{};
  const auto races = [&](Site store, Site load) {
    std::set<std::string> failures;
    outcomes(
        [&](IncoherentMemory& m, IncoherentMachine&, Outcome&) {
          m.copy_in(cell(m, 0), 4, data);
          m.store_word(cell(m, 1), 0, 1, store);
        },
        [&](IncoherentMemory& m, IncoherentMachine&, Outcome&) {
          std::byte copy[4];
          if (m.load_word(cell(m, 1), 0, load) == 1) m.copy_out(cell(m, 0), 4, copy, sizeof copy);
        },
        &failures);
    return !failures.empty();
  };
  CHECK_FALSE(races(kRelease, kAcquire));
  CHECK(races(Site::kRelaxed, kAcquire));
  CHECK(races(kRelease, Site::kRelaxed));
}

TEST_CASE("a killed core does nothing more, a paused one goes on") {
  for (const bool kill : {true, false}) {
    IncoherentMachine machine({.cores = 2, .inbox_lines = 1, .seed = 7});
    IncoherentMemory memory(machine, 0);
    std::uint32_t reached = 0;
    machine.start(0, [&] {
      for (reached = 0; reached < 10; ++reached) memory.store_word(cell(memory, 0), 0, reached, kRelease);
    });
    machine.start(1, [&] {
      for (int i = 0; i < 50; ++i) machine.step(1);
    });
    if (kill) machine.kill_at(0, 5);
    if (!kill) machine.pause_at(0, 5, 1000);
    machine.run([&] { return kill || reached == 10; });
    CHECK(machine.failure() == "");
    CHECK(machine.dead(0) == kill);
    CHECK(reached == (kill ? 4u : 10u));
  }
}
