#include "tests/replication/view/heap/killed_run.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "core/prng.h"
#include "replication/view/heap/memory.h"
#include "tests/core/weak_reader.h"
#include "tests/replication/view/heap/killed_memory.h"

namespace ingot::test {
namespace {

constexpr std::size_t kMemoryBytes = first_extent_offset(64) + 64 * kExtentBytes;

// Ends the run.
struct Failed {
  std::string what;
};

// A reader while a range of the stores is made: it runs, stalls, and sees now an older one and now a newer one.
class StalledChoices final : public Choices {
 public:
  StalledChoices(std::uint64_t seed, std::size_t from, std::size_t to)
      : prng_(seed), from_(from), to_(to), change_(1.0 / static_cast<double>(2 << prng_.below(8))), now_(draw()) {}

  std::size_t pick(std::span<const std::uint32_t> stores, std::size_t oldest, std::size_t newest) override {
    if (prng_.chance(change_)) now_ = draw();
    const auto then = std::lower_bound(stores.begin(), stores.end(), now_) - stores.begin();
    return std::clamp(static_cast<std::size_t>(then), oldest, newest);
  }

 private:
  std::size_t draw() { return from_ + prng_.below(to_ - from_ + 1); }

  Prng prng_;
  const std::size_t from_;
  const std::size_t to_;
  const double change_;
  std::size_t now_;
};

class Run {
 public:
  Run(const RunOptions& options, const MakeStore& make)
      : options_(options),
        prng_(options.seed),
        memory_(*private_heap_memory(kMemoryBytes)),
        machine_(memory_->bytes(), prng_(), options.waiting_max),
        store_(make(prng_)) {}

  RunResult run() {
    try {
      const std::size_t kills = options_.kills.size() + static_cast<std::size_t>(options_.drawn_kills);
      while (batches_ < options_.batches && result_.kills <= kills) {
        if (result_.kills < kills) machine_.kill_before(next_kill());
        if (!incarnation()) break;
      }
      machine_.reach_all();
      log_stores();
      for (int i = 0; i < options_.readers; ++i) read(prng_());
    } catch (const Failed& failed) {
      result_.failure = failed.what;
    }
    return std::move(result_);
  }

 private:
  // A third of the drawn ones come in the adoption or soon after it.
  std::uint64_t next_kill() {
    if (result_.kills < options_.kills.size()) return options_.kills[result_.kills];
    return result_.kills > 0 && prng_.chance(0.33) ? prng_.below(12) : prng_.below(600);
  }

  // False: the run is over.
  bool incarnation() {
    bool more = true;
    try {
      with_memory(machine_, [&] { more = write(); });
      result_.stores.push_back(machine_.stores());
      return false;
    } catch (const WriterKilled&) {
      result_.stores.push_back(machine_.stores());
      machine_.end_writer();
      store_->close();
      ++result_.kills;
    }
    return more;
  }

  bool write() {
    now_ms_ += prng_.below(30);
    const bool first = !std::exchange(begun_, true);
    auto heap = first ? Heap::create(memory_->bytes(), kIdentity, now_ms_)
                      : Heap::adopt(memory_->bytes(), kIdentity, now_ms_);
    if (absl::IsNotFound(heap.status()) && answered_ == 0) return false;  // nothing was published: a new chain begins
    if (!heap.ok()) throw Failed{"not adopted: " + std::string(heap.status().message())};
    if (!first) check_number(**heap);
    store_->open(**heap);
    if (!first) without_model([&] { check_adopted(**heap); });
    if ((*heap)->published().heap.number == 1) {
      if (!store_->begin(now_ms_)) throw Failed{"no first root: " + std::string((*heap)->status().message())};
      machine_.reach_all();
      answered_ = 2;
    }
    for (; batches_ < options_.batches; ++batches_) batch(**heap);
    without_model([&] { check("at the end", **heap); });
    store_->close();
    return true;
  }

  void batch(Heap& heap) {
    now_ms_ += prng_.below(12);
    if (store_->batch(now_ms_)) ++result_.reclaimed;
    if (!store_->publish(now_ms_)) throw Failed{std::string(heap.status().message())};
    if (prng_.chance(0.3)) {
      machine_.reach_all();
      answered_ = heap.published().heap.number;
    }
    pins(heap);
  }

  // Pins now and then, and reads what is pinned while newer roots come.
  void pins(Heap& heap) {
    if (pins_.size() < 3 && prng_.chance(0.15)) pins_.push_back({heap.pin(), heap.published()});
    for (std::size_t i = 0; i < pins_.size(); ++i) {
      if (!prng_.chance(0.3)) continue;
      without_model([&] {
        auto reader = HeapReader::open(memory_->bytes(), kIdentity);
        const std::uint64_t seed = prng_();
        const std::string text = store_->read_pinned(*reader, pins_[i].root, seed);
        const std::string wanted = store_->expected(pins_[i].root.heap.number, seed);
        if (!text.empty() && text != wanted) throw Failed{"a pinned root shows " + text + " for " + wanted};
      });
      if (!prng_.chance(0.2)) continue;
      heap.unpin(pins_[i].id);
      pins_.erase(pins_.begin() + static_cast<std::ptrdiff_t>(i--));
    }
  }

  void check_number(Heap& heap) {
    pins_.clear();
    const std::uint64_t number = heap.published().heap.number;
    if (!store_->has_state(number)) throw Failed{"adopted a root that was never made"};
    if (number < answered_) throw Failed{"an answered root is lost"};
  }

  void check_adopted(Heap& heap) {
    ++result_.adoptions;
    if (heap.published().heap.number > 1) check("adopted", heap);
  }

  void check(const std::string& when, Heap& heap) {
    std::optional<std::uint64_t> number;
    const std::uint64_t seed = prng_();
    const std::string text = store_->read(memory_->bytes(), number, seed);
    const std::string wanted = store_->expected(heap.published().heap.number, seed);
    if (text != wanted) throw Failed{when + ": " + text + " for " + wanted};
    const std::string wrong = store_->check(heap, memory_->bytes());
    if (!wrong.empty()) throw Failed{when + ": " + wrong};
  }

  void log_stores() {
    if (options_.readers == 0 && !options_.sees_all) return;
    log_ = std::make_unique<StoreLog>(kMemoryBytes, memory_->bytes().data());
    ends_ = machine_.write_to(*log_);
    if (options_.sees_all && log_->changed_unseen(0, 0)) throw Failed{"a store has escaped the model"};
  }

  // One reader on a weak machine, who runs between any stores, stalls, and sees old words as far as orders allow.
  void read(std::uint64_t seed) {
    Prng prng(seed);
    std::size_t from = 0, to = log_->size();
    if (!ends_.empty() && prng.chance(options_.near_ends)) {
      const std::size_t end = ends_[prng.below(ends_.size())];
      from = end - std::min<std::size_t>(end, prng.below(8));
      to = std::min<std::size_t>(log_->size(), end + 1 + prng.below(4 << prng.below(6)));
    }
    StalledChoices choices(prng(), from, to);
    WeakReader machine(*log_, Machine::kWeak, {}, choices, from + prng.below((to - from) / 2 + 1));
    std::optional<std::uint64_t> number;
    const std::uint64_t what = prng();
    const std::string text = with_memory(machine, [&] { return store_->read(log_->for_readers(), number, what); });
    ++(text.empty() ? result_.began_again : result_.counted);
    if (text.empty()) return;
    if (!store_->has_state(*number)) throw Failed{"a reader sees a root that was never made"};
    const std::string wanted = store_->expected(*number, what);
    if (text == wanted) return;
    throw Failed{"a reader at root " + std::to_string(*number) + " sees " + text + " for " + wanted};
  }

  template <typename Body>
  void without_model(Body body) {
    memory_model = nullptr;
    body();
    memory_model = &machine_;
  }

  struct Pinned {
    PinId id;
    HeapRoot root;
  };

  const RunOptions options_;
  Prng prng_;
  std::unique_ptr<HeapMemory> memory_;
  KilledMemory machine_;
  std::unique_ptr<StoreLog> log_;
  std::vector<std::size_t> ends_;  // of the log, at each writer's end
  std::unique_ptr<KilledStore> store_;
  bool begun_ = false;
  std::uint64_t answered_ = 0;  // the last root that clients know of
  std::vector<Pinned> pins_;
  std::uint64_t now_ms_ = 0;
  int batches_ = 0;
  RunResult result_;
};

}  // namespace

RunResult run_killed(const RunOptions& options, const MakeStore& make) { return Run(options, make).run(); }

}  // namespace ingot::test
