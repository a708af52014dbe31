// The learner, its command log and its catch-up, each compared with a simple model.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "core/limits.h"
#include "core/prng.h"
#include "replication/agreement/accepted_log.h"
#include "replication/agreement/command_log.h"
#include "replication/agreement/learner.h"
#include "replication/agreement/learner_catch_up.h"
#include "replication/agreement/limits.h"
#include "replication/requests/limits.h"
#include "tests/seeds.h"

namespace ingot::testing {
namespace {

std::shared_ptr<const std::string> command(std::uint64_t slot, std::size_t bytes = 1) {
  return std::make_shared<const std::string>(std::to_string(slot) + std::string(bytes, '.'));
}

TEST_CASE("a learner decides like a map of everything it received") {
  const std::uint64_t seed = drawn_seed();
  Prng prng(seed);
  for (int incarnation = 0; incarnation < 200; ++incarnation) {
    INFO("seed " << seed << " life " << incarnation);
    AgreementBounds bounds;
    bounds.window_slots = 8;
    bounds.learner_ahead_slots = 8 + static_cast<int>(prng.below(9));
    Learner learner(bounds);
    std::map<std::uint64_t, std::string> note_alive;
    std::uint64_t next = 0;  // the model's first unknown slot
    for (int step = 0; step < 200; ++step) {
      // Within reach, so that the learner does not forget it.
      const std::uint64_t slot = prng.below(next + 8);
      Effects effects;
      learner.learn(Slot(slot), command(slot), effects);
      note_alive.emplace(slot, *command(slot));
      for (const Decision& decision : effects.decided) {
        REQUIRE(decision.slot.value() == next);
        REQUIRE(*decision.command == note_alive.at(next));
        ++next;
      }
      REQUIRE(note_alive.count(next) == 0);
      REQUIRE(learner.decided().value() == next);
      REQUIRE(learner.end().value() == note_alive.rbegin()->first + 1);
      REQUIRE(learner.has_gap() == (note_alive.rbegin()->first + 1 > next));
      REQUIRE(learner.knows(Slot(slot)));
      REQUIRE_FALSE(learner.knows(Slot(next)));
    }
  }
}

TEST_CASE("a learner forgets what lies too far ahead, and remembers that it exists") {
  AgreementBounds bounds;
  bounds.window_slots = bounds.learner_ahead_slots = 4;
  Learner learner(bounds);
  Effects effects;
  learner.learn(Slot(4), command(4), effects);
  CHECK_FALSE(learner.knows(Slot(4)));
  CHECK(learner.end() == Slot(5));
  for (std::uint64_t slot = 0; slot < 4; ++slot) learner.learn(Slot(slot), command(slot), effects);
  CHECK(effects.decided.size() == 4);
  CHECK(learner.has_gap());
}

TEST_CASE("a learner bounds the bytes above a gap") {
  Learner learner{AgreementBounds{}};
  Effects effects;
  const auto large = std::make_shared<const std::string>(kBatchBytesMax, 'x');
  const std::uint64_t fit = kLearnerAheadBytesMax / kBatchBytesMax;
  for (std::uint64_t slot = 1; slot <= fit + 3; ++slot) learner.learn(Slot(slot), large, effects);
  CHECK(learner.knows(Slot(fit)));
  CHECK_FALSE(learner.knows(Slot(fit + 1)));
  learner.learn(Slot(0), large, effects);
  CHECK(effects.decided.size() == fit + 1);
}

TEST_CASE("a slot received twice above a gap counts once, with the first command") {
  Learner learner{AgreementBounds{}};
  Effects effects;
  const auto first = std::make_shared<const std::string>(kBatchBytesMax, 'x');
  const auto second = std::make_shared<const std::string>(kBatchBytesMax, 'y');
  for (int repetition = 0; repetition < 100; ++repetition) {
    learner.learn(Slot(1), repetition == 0 ? first : second, effects);
  }
  learner.learn(Slot(2), second, effects);
  CHECK(learner.knows(Slot(2)));
  learner.learn(Slot(0), second, effects);
  REQUIRE(effects.decided.size() == 3);
  CHECK(effects.decided[1].command == first);
}

TEST_CASE("a snapshot replaces slots, known above it or not") {
  Learner learner{AgreementBounds{}};
  Effects effects;
  for (const std::uint64_t slot : {2, 5, 6, 8}) learner.learn(Slot(slot), command(slot), effects);
  learner.installed(Slot(5), effects);
  REQUIRE(effects.decided.size() == 2);
  CHECK(effects.decided[0].slot == Slot(5));
  CHECK(learner.decided() == Slot(7));
  CHECK(learner.log().first() == Slot(5));
  CHECK(learner.knows(Slot(8)));
  learner.installed(Slot(3), effects);
  CHECK(learner.decided() == Slot(7));
  learner.installed(Slot(100), effects);
  CHECK(learner.decided() == Slot(100));
  CHECK_FALSE(learner.has_gap());
}

TEST_CASE("the command log keeps its bounds and its contents") {
  const std::uint64_t seed = drawn_seed();
  Prng prng(seed);
  INFO("seed " << seed);
  CommandLog log(50, 1000);
  std::vector<std::string> all;
  for (std::uint64_t slot = 0; slot < 2000; ++slot) {
    const auto next = command(slot, prng.chance(0.01) ? 2000 : prng.below(60));
    all.push_back(*next);
    log.append(next);
    REQUIRE(log.end().value() == all.size());
    const std::uint64_t kept = log.end().value() - log.first().value();
    REQUIRE(kept >= 1);
    REQUIRE(kept <= 50);
    std::size_t bytes = 0;
    for (Slot at = log.first(); at < log.end(); at = at.next()) {
      REQUIRE(*log.at(at) == all[at.value()]);
      bytes += log.at(at)->size();
    }
    REQUIRE(log.bytes() == bytes);
    REQUIRE((bytes <= 1000 || kept == 1));
  }
}

TEST_CASE("the accepted log is a map with a floor") {
  const std::uint64_t seed = drawn_seed();
  Prng prng(seed);
  INFO("seed " << seed);
  AcceptedLog log;
  std::map<std::uint64_t, std::string> model;
  std::uint64_t floor = 0;
  for (int step = 0; step < 5000; ++step) {
    if (prng.chance(0.1)) {
      const std::uint64_t keep_from = floor + prng.below(8);
      REQUIRE(log.trim(Slot(keep_from)) == (keep_from > floor));
      floor = keep_from;
      model.erase(model.begin(), model.lower_bound(floor));
    } else {
      const std::uint64_t slot = floor + prng.below(20);
      const auto value = command(slot, prng.below(5));
      log.store(Slot(slot), Ballot(1), value);
      model[slot] = *value;
    }
    REQUIRE(log.trimmed() == Slot(floor));
    REQUIRE(log.end() >= Slot(model.empty() ? floor : model.rbegin()->first + 1));
    for (std::uint64_t slot = floor > 3 ? floor - 3 : 0; slot < floor + 25; ++slot) {
      const auto* entry = log.find(Slot(slot));
      REQUIRE((entry != nullptr) == (model.count(slot) > 0));
      if (entry) REQUIRE(*entry->command == model[slot]);
    }
  }
}

// A learner with its catch-up, and the messages that it sent last.
struct Peer {
  explicit Peer(int self, int replicas = 3)
      : group{.replicas = replicas, .voters = replicas, .self = EndpointId(static_cast<std::uint16_t>(self))},
        mailbox(group),
        learner(group.bounds),
        catch_up(group, learner, mailbox) {}

  Effects take() { return std::exchange(effects, {}); }
  void learn_all(std::uint64_t slots, std::size_t bytes) {
    for (std::uint64_t slot = 0; slot < slots; ++slot) learner.learn(Slot(slot), command(slot, bytes), effects);
    effects.clear();
  }
  // The answer to a Fetch from `from`, as the receiver decodes it.
  Message answer(std::uint64_t from) {
    catch_up.answer_fetch(EndpointId(0), {.type = MessageType::kFetch, .slot = Slot(from)}, effects);
    bytes = take().messages.at(0).message.joined();
    return *decode_message(bytes);
  }

  GroupConfig group;
  Mailbox mailbox;
  Learner learner;
  CatchUp catch_up;
  Effects effects;
  std::string bytes;
};

TEST_CASE("an answer to a Fetch is bounded in entries and in bytes") {
  Peer many(1);
  many.learn_all(1000, 1);
  CHECK(entries_of(many.answer(5)).size() == kFetchEntriesMax);
  CHECK(entries_of(many.answer(999)).size() == 1);
  CHECK(entries_of(many.answer(1000)).empty());

  Peer large(1);
  large.learn_all(8, kFetchBytesMax / 2);
  CHECK(entries_of(large.answer(0)).size() == 2);
  Peer huge(1);
  huge.learn_all(2, kBatchBytesMax - 10);
  CHECK(entries_of(huge.answer(0)).size() == 1);
  CHECK(huge.bytes.size() < kMessageBytesMax);
}

TEST_CASE("a learner that fell far behind catches up answer by answer") {
  Peer source(1);
  source.learn_all(1000, 10);
  Peer behind(2);
  behind.learner.note_known(Slot(1000));
  behind.catch_up.step(EndpointId(1), behind.effects);
  int fetches = 0;
  std::uint64_t decided = 0;
  for (Effects step = behind.take(); !step.messages.empty(); step = behind.take()) {
    ++fetches;
    const Message fetch = *decode_message(step.messages.at(0).message.joined());
    CHECK(step.messages.at(0).to == EndpointId(1));
    behind.catch_up.receive_fetched(
        EndpointId(1), source.answer(fetch.slot.value()),
        [&](Slot slot, const Learner::Command& entry) { behind.learner.learn(slot, entry, behind.effects); },
        behind.effects);
    decided += behind.effects.decided.size();
  }
  CHECK(decided == 1000);
  CHECK(fetches == 4);
  CHECK_FALSE(behind.catch_up.wants_tick());
}

TEST_CASE("a silent peer is skipped, and only trimmed answers call for a snapshot") {
  Peer behind(2, 4);
  behind.learner.note_known(Slot(1));
  behind.catch_up.step(EndpointId(3), behind.effects);
  std::vector<int> asked{behind.take().messages.at(0).to.value()};
  for (int tick = 0; tick < 4 * kFetchTicks; ++tick) {
    behind.catch_up.tick(behind.effects);
    const Effects effects = behind.take();
    CHECK_FALSE(effects.snapshot_needed);
    for (const Outgoing& outgoing : effects.messages) asked.push_back(outgoing.to.value());
  }
  CHECK(asked == std::vector<int>{3, 0, 1, 3, 0});
}

// Regression: slots that a peer had trimmed before counted as missing afterwards, and a second snapshot was sent in
// vain.
TEST_CASE("slots that peers trimmed before a snapshot was installed call for no other one") {
  Peer behind(2);
  behind.learner.note_known(Slot(1000));
  behind.catch_up.step(EndpointId(1), behind.effects);
  const auto learn = [&](Slot slot, const Learner::Command& entry) {
    behind.learner.learn(slot, entry, behind.effects);
  };
  const Message trimmed{.type = MessageType::kFetched, .slot = Slot(500), .number = 1000};
  behind.catch_up.receive_fetched(EndpointId(1), trimmed, learn, behind.effects);
  behind.learner.installed(Slot(500), behind.effects);
  behind.catch_up.installed();
  behind.take();
  behind.catch_up.tick(behind.effects);
  const EndpointId asked = behind.take().messages.at(0).to;
  const Message nothing{.type = MessageType::kFetched, .slot = Slot(500), .number = 500};
  behind.catch_up.receive_fetched(asked, nothing, learn, behind.effects);
  CHECK_FALSE(behind.take().snapshot_needed);
  behind.catch_up.tick(behind.effects);
  CHECK(decode_message(behind.take().messages.at(0).message.joined())->slot == Slot(500));
}

}  // namespace
}  // namespace ingot::testing
