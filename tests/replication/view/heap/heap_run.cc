#include "tests/replication/view/heap/heap_run.h"

#include <map>
#include <memory>
#include <utility>

#include "tests/replication/view/heap/heap_store.h"

namespace ingot::test {
namespace {

class KilledHeapStore final : public KilledStore {
 public:
  explicit KilledHeapStore(Prng& prng) : prng_(prng) {}

  void open(Heap& heap) override {
    heap_ = &heap;
    writer_.emplace(heap, prng_);
  }
  void close() override { writer_.reset(); }
  bool begin(std::uint64_t now_ms) override { return writer_->begin(now_ms); }
  bool batch(std::uint64_t now_ms) override {
    if (prng_.chance(0.3) && writer_->reclaim(now_ms, states_)) return true;
    writer_->change(states_);
    return false;
  }
  bool publish(std::uint64_t now_ms) override { return heap_->publish(now_ms); }
  bool has_state(std::uint64_t number) const override { return states_.contains(number); }

  std::string read(std::span<const std::byte> memory, std::optional<std::uint64_t>& number, std::uint64_t) override {
    return read_store(memory, number);
  }
  std::string read_pinned(HeapReader& reader, const HeapRoot& root, std::uint64_t) override {
    return test::read_pinned(reader, root);
  }
  std::string expected(std::uint64_t number, std::uint64_t) const override { return to_text(states_.at(number)); }
  std::string check(Heap& heap, std::span<const std::byte> memory) override { return check_books(heap, memory); }

 private:
  Prng& prng_;
  Heap* heap_ = nullptr;
  std::optional<StoreWriter> writer_;
  std::map<std::uint64_t, Revisions> states_{{1, {}}, {2, {}}};  // by the root's number
};

}  // namespace

RunResult run_heap(const RunOptions& options) {
  return run_killed(options, [](Prng& prng) { return std::make_unique<KilledHeapStore>(prng); });
}

}  // namespace ingot::test
