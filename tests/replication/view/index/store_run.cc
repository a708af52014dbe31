#include "tests/replication/view/index/store_run.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/replication/view/index/store_script.h"

namespace ingot::test {
namespace {

constexpr std::size_t kKeys = 26;
constexpr int kQuestions = 4;
constexpr int kQuestionsOfChecks = 30;

// What a run's batches do: versions come and go, or keys do, or both.
ScriptMix draw_mix(Prng& prng) {
  switch (prng.below(3)) {
    case 0: return {.puts = 60, .erases = 5, .compactions = 8, .frees = 15, .taken_back = 8};
    case 1: return {.puts = 45, .erases = 40, .compactions = 15, .frees = 30, .taken_back = 4};
    default: return {};
  }
}

class KilledVersionedStore final : public KilledStore {
 public:
  explicit KilledVersionedStore(Prng& prng)
      : prng_(prng),
        keys_(draw_store_keys(prng, 1 + prng.below(kKeys))),
        script_(keys_, model_, draw_mix(prng)),
        reclaims_(prng.chance(0.5) ? 0.3 : 0.5) {}

  void open(Heap& heap) override {
    heap_ = &heap;
    model_.go_back(roots_.at(heap.published().heap.number));
    store_.emplace(heap);
  }
  void close() override { store_.reset(); }
  bool begin(std::uint64_t now_ms) override {
    roots_[heap_->batch()] = model_.root();
    return store_->publish(now_ms);
  }
  bool batch(std::uint64_t now_ms) override {
    const bool reclaimed = prng_.chance(reclaims_) && store_->reclaim(now_ms) > 0;
    if (!reclaimed) script_.batch(*store_, prng_);
    roots_[heap_->batch()] = model_.root();
    return reclaimed;
  }
  bool publish(std::uint64_t now_ms) override { return store_->publish(now_ms); }
  bool has_state(std::uint64_t number) const override { return roots_.contains(number); }

  std::string read(std::span<const std::byte> memory, std::optional<std::uint64_t>& number,
                   std::uint64_t seed) override {
    auto reader = StoreReader::open(memory, kIdentity);
    if (!reader.ok() || !reader->begin()) return "";
    number = reader->heap_root().heap.number;
    const StoreRoot& root = reader->root();
    return ask(answers_of(*reader), keys_, root.revision, root.compacted, seed, kQuestions);
  }
  std::string read_pinned(HeapReader& reader, const HeapRoot& root, std::uint64_t seed) override {
    const StoreView view(reader.nodes(), root.user_as<StoreRoot>());
    return ask(answers_of(view), keys_, view.root().revision, view.root().compacted, seed, kQuestions);
  }
  std::string expected(std::uint64_t number, std::uint64_t seed) const override {
    const ModelRoot& root = roots_.at(number);
    return ask(answers_of(model_, root), keys_, root.revision, root.compacted, seed, kQuestions);
  }

  std::string check(Heap& heap, std::span<const std::byte> memory) override {
    const ModelRoot& root = model_.root();
    const std::uint64_t seed = root.changes + static_cast<std::uint64_t>(root.compacted);
    const auto all = [&](const StoreAnswers& answers) {
      return ask(answers, keys_, root.revision, root.compacted, seed, kQuestionsOfChecks);
    };
    const std::string text = all(answers_of(*store_)), wanted = all(answers_of(model_, root));
    if (text != wanted) return "the writer sees " + text + " for " + wanted;
    const StoreRoot& found = store_->root();
    if (found.revision != root.revision || found.compacted != root.compacted) return "a revision is wrong";
    if (found.held() != model_.held(root) || found.live_keys != model_.live_keys(root)) return "sums are wrong";
    return check_store_books(heap, memory);
  }

 private:
  Prng& prng_;
  const std::vector<std::string> keys_;
  StoreModel model_;
  StoreScript script_;
  const double reclaims_;
  Heap* heap_ = nullptr;
  std::optional<VersionedStore> store_;
  std::map<std::uint64_t, ModelRoot> roots_{{1, {}}};  // by the root's number
};

}  // namespace

RunResult run_store(const RunOptions& options) {
  return run_killed(options, [](Prng& prng) { return std::make_unique<KilledVersionedStore>(prng); });
}

}  // namespace ingot::test
