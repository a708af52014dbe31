// What readers of shared memory with one writer may see on a machine that reorders stores and loads, Arm's or Power's.
//
// The writer never depends on its readers. So it runs first, and a StoreLog keeps its stores in their order. Then a
// WeakReader answers each load with any store to that word that no order hides: not older than what this reader has
// seen there, nor than the newest one before a release store that it has loaded with acquire, or before the last fence
// before any store that it has loaded so. Whatever an interleaving of the two could show is among these, since a load
// may always return an older value.
//
// A machine that only interleaves is the same with all stores as releases and all loads as acquires. The readers of a
// protocol whose orders suffice come to the same conclusions on both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/modelled_memory.h"
#include "core/prng.h"

namespace ingot::test {

// An ordered access, by its cell: byte `offset` of the memory.
struct OrderedAccess {
  std::size_t offset;
  bool release;  // a release store; otherwise an acquire load
  auto operator<=>(const OrderedAccess&) const = default;
};

// Picks what a load returns: how many of the stores to its word are not newer, from `oldest` to `newest`. `stores` are
// the numbers of all of them.
class Choices {
 public:
  virtual ~Choices() = default;
  virtual std::size_t pick(std::span<const std::uint32_t> stores, std::size_t oldest, std::size_t newest) = 0;
};

// The memory as it was after some store, which changes now and then.
class DrawnChoices final : public Choices {
 public:
  DrawnChoices(std::uint64_t seed, std::size_t all_stores);
  std::size_t pick(std::span<const std::uint32_t> stores, std::size_t oldest, std::size_t newest) override;

 private:
  Prng prng_;
  const std::size_t all_stores_;
  const double change_;
  std::size_t now_;
};

// All sequences of choices, one after the other.
class AllChoices final : public Choices {
 public:
  std::size_t pick(std::span<const std::uint32_t> stores, std::size_t oldest, std::size_t newest) override;
  // Begins the next sequence; false: there is none.
  bool next();

 private:
  struct Choice {
    std::size_t taken;
    std::size_t count;
  };
  std::vector<Choice> choices_;
  std::size_t depth_ = 0;
};

// Records the stores of the writer while it is the memory_model. The memory was zero-filled.
class StoreLog final : public MemoryModel {
 public:
  struct Store {
    std::size_t offset;  // of the cell or piece that was stored
    std::uint64_t word;  // the 8 bytes around it, afterwards
    bool release;
    std::size_t fenced;  // stores before the last fence before it: an acquire load of it has seen them
  };

  // The memory begins with the page of the first access, or at `base`.
  explicit StoreLog(std::size_t bytes, const void* base = nullptr);
  ~StoreLog() override;
  StoreLog(const StoreLog&) = delete;
  StoreLog& operator=(const StoreLog&) = delete;

  void load(const void* at, void* out, std::size_t bytes, std::memory_order order) override;
  void store(const void* at, const void* in, std::size_t bytes, std::memory_order order) override;
  std::uint64_t update(void* at, std::size_t bytes, const Update& next) override;
  void store_load_fence() override {}
  void store_store_fence() override { fenced_ = stores_.size(); }

  std::size_t size() const { return stores_.size(); }
  const Store& operator[](std::size_t number) const { return stores_[number]; }
  // The numbers of the stores to the word at that offset.
  std::span<const std::uint32_t> to_word(std::size_t offset) const;
  std::set<OrderedAccess> releases() const;

  // The writer's memory.
  const std::byte* base() const { return base_; }
  // Where readers find the memory. No access there works but through a WeakReader.
  std::span<const std::byte> for_readers() const { return {phantom_, bytes_}; }
  std::size_t offset_of(const void* at) const;  // of the writer's or the readers' address

  // Forgets all stores after the first `count`: the writer died, or was stopped there.
  void cut(std::size_t count);

  // The first byte that the writer has changed otherwise, if any, but for those in [from, to).
  std::optional<std::size_t> changed_unseen(std::size_t from, std::size_t to) const;

 private:
  const std::size_t bytes_;
  const std::byte* base_;
  std::byte* phantom_;
  std::vector<Store> stores_;
  std::size_t fenced_ = 0;
  std::unordered_map<std::size_t, std::vector<std::uint32_t>> by_word_;
};

enum class Machine : std::uint8_t {
  kInterleaving,  // loads return what is in memory, at some point of the writer's program
  kWeak,
};

// One run of a reader while it is the memory_model.
class WeakReader final : public MemoryModel {
 public:
  // `weakened` is made relaxed on the weak machine. The first `known` stores happened before the reader's first load.
  WeakReader(const StoreLog& log, Machine machine, std::optional<OrderedAccess> weakened, Choices& choices,
             std::size_t known = 0)
      : log_(log), machine_(machine), weakened_(weakened), choices_(choices), known_(known) {}

  void load(const void* at, void* out, std::size_t bytes, std::memory_order order) override;
  void store(const void* at, const void* in, std::size_t bytes, std::memory_order order) override;
  std::uint64_t update(void* at, std::size_t bytes, const Update& next) override;
  void store_load_fence() override {}
  void store_store_fence() override {}

  // Takes the same stores as that run did: with acquire loads only, or with all; and what is in memory where that is
  // not possible, and with the others.
  void follow(const WeakReader& run, bool acquires_only) {
    followed_ = &run.taken_;
    acquires_only_ = acquires_only;
  }

  // Its acquire loads.
  const std::set<OrderedAccess>& acquires() const { return acquires_; }

 private:
  std::size_t pick(std::span<const std::uint32_t> stores, std::size_t oldest, bool acquire);
  bool orders(std::size_t offset, std::memory_order order, const StoreLog::Store& store) const;

  const StoreLog& log_;
  const Machine machine_;
  const std::optional<OrderedAccess> weakened_;
  Choices& choices_;
  std::size_t known_;  // stores that happened before what follows
  // By word: the store seen last, counted from 1 among the word's stores; 0: none was seen.
  std::unordered_map<std::size_t, std::size_t> seen_;
  std::vector<std::size_t> taken_;  // by load: likewise
  const std::vector<std::size_t>* followed_ = nullptr;
  bool acquires_only_ = false;
  std::set<OrderedAccess> acquires_;
};

// Runs code with this memory under it.
template <typename Body>
auto with_memory(MemoryModel& model, Body body) {
  struct Scope {
    explicit Scope(MemoryModel& model) { memory_model = &model; }
    ~Scope() { memory_model = nullptr; }
  } scope(model);
  return body();
}

// What a reader concludes, as text.
using Reader = std::function<std::string(std::span<const std::byte>)>;

// Calls visit(text, run) for every run of the reader; ends early if it returns false.
void for_each_run(const StoreLog& log, Machine machine, const Reader& reader, std::optional<OrderedAccess> weakened,
                  const std::function<bool(const std::string&, const WeakReader&)>& visit);

// Every text that the reader may come to on a machine that interleaves.
std::set<std::string> interleaved(const StoreLog& log, const Reader& reader);

// A text that the weak machine shows and interleaving does not; nothing: there is none. Adds the acquire loads to
// `acquires`, unless null.
std::optional<std::string> shown_by_weakness(const StoreLog& log, const Reader& reader,
                                             std::optional<OrderedAccess> weakened = {},
                                             std::set<OrderedAccess>* acquires = nullptr);

// The same for one run on the weak machine, drawn by its seed, of a log that is too long to try all: no interleaving
// with the same acquired stores shows that text. "" stands for a reader that was overtaken, which is always allowed.
std::optional<std::string> drawn_by_weakness(const StoreLog& log, const Reader& reader, std::uint64_t seed,
                                             std::optional<OrderedAccess> weakened = {});

}  // namespace ingot::test
