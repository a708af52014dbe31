#include "tests/replication/view/index/tree_run.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/prng.h"
#include "tests/replication/view/index/tree_store.h"

namespace ingot::test {
namespace {

class KilledTreeStore final : public KilledStore {
 public:
  explicit KilledTreeStore(Prng& prng)
      : prng_(prng),
        keys_(draw_keys(prng, 20 + prng.below(60), prng.chance(0.1) ? 4096 : 1 + prng.below(30))),
        puts_(0.3 + 0.6 * prng.unit()) {}

  void open(Heap& heap) override {
    heap_ = &heap;
    writer_.emplace(heap, keys_);
  }
  void close() override { writer_.reset(); }

  bool begin(std::uint64_t now_ms) override { return publish(now_ms); }

  bool batch(std::uint64_t now_ms) override {
    const bool reclaims = prng_.chance(0.3) && writer_->reclaim(now_ms);
    if (!reclaims) change();
    states_[heap_->batch()] = writer_->visible();
    return reclaims;
  }

  bool publish(std::uint64_t now_ms) override {
    writer_->save();
    return heap_->publish(now_ms);
  }

  bool has_state(std::uint64_t number) const override { return states_.contains(number); }

  std::string read(std::span<const std::byte> memory, std::optional<std::uint64_t>& number,
                   std::uint64_t seed) override {
    return read_newest_tree(memory, kIdentity, keys_, seed, number);
  }
  std::string read_pinned(HeapReader& reader, const HeapRoot& root, std::uint64_t seed) override {
    return read_tree(reader.nodes(), root.user_as<TreeScalars>(), keys_, seed);
  }
  std::string expected(std::uint64_t number, std::uint64_t) const override { return to_text(states_.at(number)); }

  std::string check(Heap& heap, std::span<const std::byte> memory) override {
    return check_tree_books(heap, memory);
  }

 private:
  // Some keys, drawn or one after the other.
  void change() {
    const bool in_order = prng_.chance(0.3);
    for (std::uint64_t left = 1 + prng_.below(6); left > 0; --left) {
      next_ = in_order ? (next_ + 1) % keys_.size() : prng_.below(keys_.size());
      prng_.chance(puts_) ? writer_->put(next_) : writer_->erase(next_);
    }
  }

  Prng& prng_;
  const std::vector<std::string> keys_;  // all that there may be
  const double puts_;
  Heap* heap_ = nullptr;
  std::optional<TreeWriter> writer_;
  std::map<std::uint64_t, VisibleKeys> states_{{1, {}}, {2, {}}};  // by the root's number
  std::size_t next_ = 0;
};

}  // namespace

RunResult run_killed_tree(const RunOptions& options) {
  return run_killed(options, [](Prng& prng) { return std::make_unique<KilledTreeStore>(prng); });
}

}  // namespace ingot::test
