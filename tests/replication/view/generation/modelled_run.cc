#include "tests/replication/view/generation/modelled_run.h"

#include <deque>
#include <functional>

#include "core/check.h"
#include "core/modelled_memory.h"
#include "tests/core/weak_reader.h"
#include "tests/replication/view/generation/view_world.h"

namespace ingot::test {
namespace {

constexpr std::size_t kBytes = std::size_t{64} * 1024;

// A reader's loads, each of which may do something before.
class WatchedLoads final : public MemoryModel {
 public:
  explicit WatchedLoads(std::function<void(const void* at, void* out, std::size_t bytes)> load)
      : load_(std::move(load)) {}
  void load(const void* at, void* out, std::size_t bytes, std::memory_order) override { load_(at, out, bytes); }
  void store(const void*, const void*, std::size_t, std::memory_order) override {
    INGOT_CHECK(false, "a reader stores nothing");
  }
  std::uint64_t update(void*, std::size_t, const Update&) override { INGOT_CHECK(false, "nor this"); }
  void store_load_fence() override {}
  void store_store_fence() override {}

 private:
  std::function<void(const void* at, void* out, std::size_t bytes)> load_;
};

// Readers over all stores, each at some root, that ask more and more.
std::string read_weakly(const StoreLog& log, const ViewWorld& world, Prng& prng) {
  for (int i = 0; i < 40; ++i) {
    DrawnChoices choices(prng(), log.size());
    WeakReader machine(log, Machine::kWeak, std::nullopt, choices);
    const std::string wrong = with_memory(machine, [&]() -> std::string {
      auto reader = ViewReader::open(log.for_readers());
      if (!reader.ok()) return "";
      for (int root = 0; root < 4; ++root) {
        const ReadOutcome outcome = reader->begin();
        if (outcome == ReadOutcome::kOvertaken) continue;
        if (outcome != ReadOutcome::kOk) return "no root, but outcome " + std::to_string(static_cast<int>(outcome));
        if (!world.published(reader->revision())) return "a root that nobody has published";
        std::uint64_t overtaken = 0;
        std::string found = check_reads(*reader, world.model(), world.keys(), prng, 6, overtaken);
        if (!found.empty()) return found;
      }
      return "";
    });
    if (!wrong.empty()) return "a weak reader: " + wrong;
  }
  return "";
}

}  // namespace

std::string run_weak(std::uint64_t seed) {
  Prng prng(seed);
  const GuardedMemory memory(kBytes);
  StoreLog log(kBytes, memory.bytes().data());
  std::string wrong;
  std::uint64_t overtaken = 0;
  ViewWorld* world_at = nullptr;
  const auto world = with_memory(log, [&] {
    auto made = std::make_unique<ViewWorld>(seed, memory.bytes(), 5 + prng.below(60), prng.chance(0.8) ? 20 : 1500);
    world_at = made.get();
    if (!made->load()) return made;
    std::deque<ViewReader> readers;
    const std::uint64_t batches = 20 + prng.below(120);
    for (std::uint64_t i = 0; i < batches && wrong.empty() && made->batch(); ++i) {
      auto reader = ViewReader::open(memory.bytes());
      if (!reader.ok() || reader->begin() != ReadOutcome::kOk) wrong = "the newest root cannot be read";
      if (wrong.empty() && prng.chance(0.3)) readers.push_back(*reader);
      if (readers.size() > 4) readers.pop_front();
      if (wrong.empty()) wrong = check_reads(*reader, made->model(), made->keys(), prng, 4, overtaken);
      for (ViewReader& older : readers) {
        if (wrong.empty()) wrong = check_reads(older, made->model(), made->keys(), prng, 2, overtaken);
      }
    }
    return made;
  });
  if (!wrong.empty()) return wrong;
  return read_weakly(log, *world_at, prng);
}

// The leaf that a range is in loses keys, gets others, and then has the same ones again, in the same places; its memory
// may have been used again meanwhile.
std::string run_interleaved(std::uint64_t seed) {
  for (std::uint64_t at = 0;; ++at) {
    const GuardedMemory memory(kBytes);
    ViewWorld world(seed, memory.bytes(), 12, 30);
    if (!world.load()) return "";
    auto reader = ViewReader::open(memory.bytes());
    if (!reader.ok() || reader->begin() != ReadOutcome::kOk) return "the first root cannot be read";
    std::uint64_t loads = 0;
    bool room = true;
    WatchedLoads watched([&](const void* from, void* to, std::size_t bytes) {
      if (loads++ == at) {
        MemoryModel* const model = std::exchange(memory_model, nullptr);
        for (int i = 0; i < 30 && room; ++i) room = world.batch();
        memory_model = model;
      }
      std::memcpy(to, from, bytes);
    });
    ViewAnswer answer;
    const ReadOutcome outcome = with_memory(watched, [&] { return reader->range({}, answer); });
    if (outcome != ReadOutcome::kOk && outcome != ReadOutcome::kOvertaken) return "a range is damaged";
    std::vector<KeyState> found;
    for (std::size_t i = 0; i < answer.size(); ++i) found.push_back(state_of(answer[i]));
    const auto expected = world.model().range("", "", reader->revision());
    if (outcome == ReadOutcome::kOk && found != expected) {
      return "changed before load " + std::to_string(at) + ": " + to_text(found) + " instead of " + to_text(expected);
    }
    if (loads <= at) return "";
  }
}

std::string run_hostile(std::uint64_t seed) {
  Prng prng(seed);
  const GuardedMemory memory(kBytes);
  ViewWorld world(seed, memory.bytes(), 5 + prng.below(100), 40);
  if (!world.load()) return "";
  for (std::uint64_t i = prng.below(60); i > 0 && world.batch(); --i) continue;
  const auto* const first = memory.bytes().data();
  const double lies = prng.chance(0.5) ? 0.02 : 0.2;
  std::uint64_t loads = 0;
  WatchedLoads liar([&](const void* from, void* to, std::size_t bytes) {
    const auto* const at = static_cast<const std::byte*>(from);
    INGOT_CHECK(at >= first && at + bytes <= first + kBytes, "a reader looks outside");
    ++loads;
    std::memcpy(to, from, bytes);
    if (!prng.chance(lies)) return;
    std::uint64_t word = prng();
    switch (prng.below(4)) {
      case 0: word >>= prng.below(64); break;
      case 1: std::memcpy(&word, first + prng.below(kBytes / 8) * 8, 8); break;
      case 2: word = prng.below(kBytes / kUnitBytes); break;  // some node
      default: break;
    }
    std::memcpy(to, &word, bytes);
  });
  return with_memory(liar, [&]() -> std::string {
    auto reader = ViewReader::open(memory.bytes());
    if (!reader.ok()) return "";
    ViewAnswer answer;
    for (int i = 0; i < 40; ++i) {
      const ReadOutcome begun = reader->begin();
      if (begun != ReadOutcome::kOk) continue;
      const std::string key = world.keys()[prng.below(world.keys().size())];
      const std::size_t bytes_max = prng.below(2000);
      loads = 0;
      answer.clear();
      std::uint64_t keys = 0;
      switch (prng.below(4)) {
        case 0: reader->get(key, answer); break;
        case 1: reader->range({.begin = key, .bytes_max = bytes_max}, answer); break;
        case 2: reader->count(key, "", keys); break;
        default: reader->changes({.since = reader->revision() - 20, .bytes_max = bytes_max}, answer); break;
      }
      // What is charged, the root, the mark, and the high water at most once more a word.
      if (loads > 2 * (2 * kGetWordsMax + 2 * kViewBytesMax / 8 + kBytes / 8)) return "a read looks at too much";
      if (answer.bytes() > bytes_max + kBytes) return "an answer holds too much";
    }
    return "";
  });
}

}  // namespace ingot::test
