// The rule by which a store is checked: violations that it must detect, outcomes that it must accept, and a random
// store against a simple model that keeps the full history.
#include "services/ingot_load/write_ledger.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <catch2/catch.hpp>

#include "core/prng.h"
#include "tests/seeds.h"

namespace ingot::load {
namespace {

constexpr std::uint32_t kRun = 7;

std::string value_of(WriteId id, std::uint32_t run = kRun, std::string_view key = "k") {
  std::string value;
  make_value({run, id}, key, 64, value);
  return value;
}

Verdict verify(const WriteLedger& ledger, Revision revision, const std::string& value) {
  return ledger.verify(0, "k", Observed{revision, value});
}

const WriteId kFirst{1, 1}, kSecond{2, 1}, kThird{3, 1};

WriteLedger two_acknowledged() {
  WriteLedger ledger(kRun, 1);
  ledger.acknowledged(0, 10, kFirst);
  ledger.acknowledged(0, 20, kSecond);
  return ledger;
}

TEST_CASE("the last acknowledged write is what a store must have") {
  CHECK(verify(two_acknowledged(), 20, value_of(kSecond)) == Verdict::kHeld);
}

TEST_CASE("a write that is gone is lost") {
  CHECK(two_acknowledged().verify(0, "k", std::nullopt) == Verdict::kLost);
}

TEST_CASE("an older value is a lost write, acknowledged in whatever order") {
  CHECK(verify(two_acknowledged(), 10, value_of(kFirst)) == Verdict::kLost);
  WriteLedger reversed(kRun, 1);
  reversed.acknowledged(0, 20, kSecond);
  reversed.acknowledged(0, 10, kFirst);
  CHECK(verify(reversed, 10, value_of(kFirst)) == Verdict::kLost);
  CHECK(verify(reversed, 20, value_of(kSecond)) == Verdict::kHeld);
}

TEST_CASE("another value at the acknowledged revision is wrong") {
  CHECK(verify(two_acknowledged(), 20, value_of(kFirst)) == Verdict::kWrongValue);
  CHECK(verify(two_acknowledged(), 20, value_of(kSecond, kRun + 1)) == Verdict::kWrongValue);
  CHECK(verify(two_acknowledged(), 20, value_of(kSecond, kRun, "another key")) == Verdict::kWrongValue);
  CHECK(verify(two_acknowledged(), 20, "") == Verdict::kWrongValue);
}

TEST_CASE("an unknown write may appear or not") {
  WriteLedger ledger = two_acknowledged();
  ledger.unknown(kThird);
  CHECK(verify(ledger, 20, value_of(kSecond)) == Verdict::kHeld);
  CHECK(verify(ledger, 21, value_of(kThird)) == Verdict::kHeld);
  CHECK(verify(ledger, 15, value_of(kThird)) == Verdict::kLost);
}

TEST_CASE("a newer revision needs a write that explains it") {
  // A write carried out twice: its second effect comes after it was acknowledged.
  CHECK(verify(two_acknowledged(), 21, value_of(kSecond)) == Verdict::kUnexplained);
  // A write reported as failed.
  CHECK(verify(two_acknowledged(), 21, value_of(kThird)) == Verdict::kUnexplained);
  CHECK(verify(two_acknowledged(), 21, "garbage") == Verdict::kUnexplained);
}

TEST_CASE("another run may write under the same prefix, but not undo a write") {
  CHECK(verify(two_acknowledged(), 30, value_of(kFirst, kRun + 1)) == Verdict::kHeld);
  CHECK(verify(two_acknowledged(), 5, value_of(kFirst, kRun + 1)) == Verdict::kLost);
}

TEST_CASE("without an acknowledged write a key may be missing, old, or unknown, but not invented") {
  WriteLedger ledger(kRun, 1);
  ledger.unknown(kFirst);
  CHECK(ledger.verify(0, "k", std::nullopt) == Verdict::kHeld);
  CHECK(verify(ledger, 3, value_of(kFirst)) == Verdict::kHeld);
  CHECK(verify(ledger, 3, value_of(kFirst, kRun + 1)) == Verdict::kHeld);
  CHECK(verify(ledger, 3, value_of(kSecond)) == Verdict::kUnexplained);
}

TEST_CASE("two writes acknowledged at one revision are caught, in one ledger or in two") {
  WriteLedger ledger = two_acknowledged();
  WriteLedger other(kRun, 1);
  other.acknowledged(0, 20, kThird);
  WriteLedger merged = ledger;
  merged.merge(other);
  CHECK(verify(merged, 20, value_of(kThird)) == Verdict::kSameRevision);
  ledger.acknowledged(0, 20, kThird);
  CHECK(verify(ledger, 20, value_of(kSecond)) == Verdict::kSameRevision);
}

TEST_CASE("the floor of reads is the highest acknowledged revision") {
  WriteLedger ledger = two_acknowledged();
  CHECK(ledger.floor(0) == 20);
  ledger.acknowledged(0, 15, kThird);
  CHECK(ledger.floor(0) == 20);
  CHECK(ledger.acknowledged_count() == 3);
}

// The full history of one key: every write that took effect, in order, and whether its client knows.
struct Effect {
  Revision revision;
  WriteId id;
  bool acknowledged;
};

struct History {
  std::vector<std::vector<Effect>> effects;  // by key
  std::vector<WriteLedger> ledgers;          // one a worker, each with its own writers
};

History random_history(Prng& prng, std::uint32_t keys) {
  History history{std::vector<std::vector<Effect>>(keys), {}};
  for (int worker = 0; worker < 3; ++worker) history.ledgers.emplace_back(kRun, keys);
  Revision revision = 1;
  for (std::uint64_t sequence = 1; sequence <= 200; ++sequence) {
    const auto key = static_cast<std::uint32_t>(prng.below(keys));
    const auto worker = static_cast<std::uint16_t>(prng.below(3));
    const WriteId id{worker, sequence};
    const bool takes_effect = prng.chance(0.9);
    const bool answered = takes_effect && prng.chance(0.8);
    if (takes_effect) history.effects[key].push_back({++revision, id, answered});
    if (answered) history.ledgers[worker].acknowledged(key, revision, id);
    if (!answered) history.ledgers[worker].unknown(id);
  }
  return history;
}

// The rule again, from the full history: held exactly if the store shows an effect of the key that really happened, and
// no acknowledged one came after it.
bool held_by_model(const std::vector<Effect>& effects, const Effect* shown) {
  bool real = !shown;
  for (const Effect& effect : effects) {
    if (effect.acknowledged && (!shown || effect.revision > shown->revision)) return false;
    if (shown && effect.revision == shown->revision && effect.id == shown->id) real = true;
  }
  return real;
}

TEST_CASE("a store rolled back to any point of a random history is judged as the whole history says") {
  const std::uint64_t seed = testing::drawn_seed();
  INFO("seed " << seed);
  Prng prng(seed);
  int lost = 0;
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t keys = 1 + static_cast<std::uint32_t>(prng.below(5));
    const History history = random_history(prng, keys);
    WriteLedger ledger(kRun, keys);
    for (const WriteLedger& part : history.ledgers) ledger.merge(part);
    for (std::uint32_t key = 0; key < keys; ++key) {
      const auto& effects = history.effects[key];
      const std::size_t kept = effects.size() - std::min<std::size_t>(effects.size(), prng.below(4));
      const Effect* shown = kept == 0 ? nullptr : &effects[kept - 1];
      const std::string value = shown ? value_of(shown->id) : "";
      std::optional<Observed> observed;
      if (shown) observed = Observed{shown->revision, value};
      const Verdict verdict = ledger.verify(key, "k", observed);
      INFO("round " << round << " key " << key << ": " << kept << " of " << effects.size() << " effects kept");
      REQUIRE((verdict == Verdict::kHeld) == held_by_model(effects, shown));
      if (verdict != Verdict::kHeld) REQUIRE(verdict == Verdict::kLost);
      lost += verdict == Verdict::kLost;
    }
  }
  CHECK(lost > 0);
}

}  // namespace
}  // namespace ingot::load
