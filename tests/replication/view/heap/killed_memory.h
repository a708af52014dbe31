// The memory of a writer that may be killed before any of its stores, on a machine and by a compiler that reorder its
// stores as far as release and fence allow.
//
// A store waits in a buffer. It reaches the memory when no earlier one to the same word, no earlier one before a fence
// between them, and, if it is a release, no earlier one at all waits. A kill drops what waits. All that did reach the
// memory, in the program's order, is the log that readers run over (tests/core/weak_reader.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/check.h"
#include "core/modelled_memory.h"
#include "core/prng.h"
#include "tests/core/weak_reader.h"

namespace ingot::test {

// Ends the writer.
struct WriterKilled {};

class KilledMemory final : public MemoryModel {
 public:
  // `memory` is zero-filled. `waiting_max` stores wait at most; 0: the stores come in the program's order.
  KilledMemory(std::span<std::byte> memory, std::uint64_t seed, std::size_t waiting_max)
      : memory_(memory), prng_(seed), waiting_max_(waiting_max) {}

  std::span<std::byte> memory() const { return memory_; }

  // The store before which the writer is killed, counted from its first one; ~0: none.
  void kill_before(std::uint64_t store) { kill_before_ = store; }
  std::uint64_t stores() const { return stores_; }

  // What the kernel does when the writer has ended: the memory is what has reached it, and all of it is before what a
  // successor stores.
  void end_writer() {
    const std::uint64_t reach = prng_.below(2 * waiting_.size() + 1);
    for (std::uint64_t i = 0; i < reach && !waiting_.empty(); ++i) reach_one();
    for (const Store& store : waiting_) put(store.offset, reached(store.offset));
    waiting_.clear();
    ++fences_;
    ends_.push_back(log_.size());
    stores_ = 0;
    kill_before_ = ~std::uint64_t{0};
  }

  // All that was stored reaches the memory, as before an answer, which is a release store elsewhere.
  void reach_all() {
    while (!waiting_.empty()) reach_one();
  }

  // The stores that reached the memory, for readers. Returns how many there were at each writer's end.
  std::vector<std::size_t> write_to(StoreLog& log) const {
    std::vector<std::size_t> ends;
    std::uint64_t fences = 0;
    for (const Store& store : log_) {
      while (ends.size() < ends_.size() && store.number == ends_[ends.size()]) ends.push_back(log.size());
      if (!store.reached) continue;
      if (store.fences != fences) log.store_store_fence();
      fences = store.fences;
      const auto order = store.release ? std::memory_order_release : std::memory_order_relaxed;
      log.store(memory_.data() + store.offset, &store.value, sizeof store.value, order);
    }
    return ends;
  }

  void load(const void* at, void* out, std::size_t bytes, std::memory_order) override { std::memcpy(out, at, bytes); }
  void store(const void* at, const void* in, std::size_t bytes, std::memory_order order) override {
    if (stores_ == kill_before_) throw WriterKilled{};
    ++stores_;
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(at) - memory_.data());
    INGOT_CHECK(bytes == 8 && offset % 8 == 0 && offset < memory_.size(), "the heap stores words of its own");
    Store store{.offset = offset, .number = log_.size(), .fences = fences_};
    std::memcpy(&store.value, in, bytes);
    store.release = order == std::memory_order_release;
    log_.push_back(store);
    waiting_.push_back(store);
    while (waiting_.size() > waiting_max_) reach_one();
  }
  std::uint64_t update(void*, std::size_t, const Update&) override { INGOT_CHECK(false, "the heap has none"); }
  void store_load_fence() override {}
  void store_store_fence() override { ++fences_; }

 private:
  struct Store {
    std::size_t offset = 0;
    std::uint64_t value = 0;
    std::size_t number = 0;    // in the log
    std::uint64_t fences = 0;  // before it
    bool release = false;
    bool reached = false;
  };

  bool may_reach(std::size_t index) const {
    const Store& store = waiting_[index];
    if (store.release) return index == 0;
    if (waiting_.front().fences != store.fences) return false;
    for (std::size_t i = 0; i < index; ++i) {
      if (waiting_[i].offset == store.offset) return false;
    }
    return true;
  }

  void reach_one() {
    std::size_t index = prng_.below(waiting_.size());
    while (!may_reach(index)) index = prng_.below(index);
    const Store& store = waiting_[index];
    reached_[store.offset] = store.value;
    log_[store.number].reached = true;
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  std::uint64_t reached(std::size_t offset) const {
    const auto found = reached_.find(offset);
    return found == reached_.end() ? 0 : found->second;
  }
  void put(std::size_t offset, std::uint64_t value) { std::memcpy(memory_.data() + offset, &value, sizeof value); }

  const std::span<std::byte> memory_;
  Prng prng_;
  const std::size_t waiting_max_;
  std::unordered_map<std::size_t, std::uint64_t> reached_;  // the memory, without what waits
  std::vector<Store> waiting_;                              // in the program's order
  std::vector<Store> log_;
  std::vector<std::size_t> ends_;  // what the log had at each writer's end
  std::uint64_t fences_ = 0;
  std::uint64_t stores_ = 0;
  std::uint64_t kill_before_ = ~std::uint64_t{0};
};

}  // namespace ingot::test
