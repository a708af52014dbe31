// A chain's memory as words: the only accesses to it that the heap makes.
//
// Each access is atomic, so a reader that is overtaken reads a mixture of old and new words and no undefined values.
// Loads have the order acquire: one that sees a store behind the writer's fence also sees what was stored before it.
// On x86 that and release are plain moves.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/rule.h"
#include "core/shared_cell.h"
#include "replication/view/heap/layout.h"

namespace ingot::inline replication_view_heap {

// A view, copied freely. Offsets are multiples of 8 and within size(): callers check what comes from the memory itself.
class Chain {
 public:
  explicit Chain(std::span<std::byte> memory) : base_(memory.data()), bytes_(memory.size()) {}
  // For readers, which call no store.
  explicit Chain(std::span<const std::byte> memory)
      : base_(const_cast<std::byte*>(memory.data())), bytes_(memory.size()) {}

  std::uint64_t size() const { return bytes_; }

  std::uint64_t load(std::uint64_t offset) const;
  void store(std::uint64_t offset, std::uint64_t value, std::memory_order order = std::memory_order_relaxed) {
    cell(offset).store(value, order);
  }
  void store_release(std::uint64_t offset, std::uint64_t value) { store(offset, value, std::memory_order_release); }

  void load_words(std::uint64_t offset, std::span<std::uint64_t> out) const {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = load(offset + i * kWordBytes);
  }

  // Whether these words are inside the memory.
  bool holds(std::uint64_t offset, std::size_t words) const {
    return offset <= bytes_ && words * kWordBytes <= bytes_ - offset;
  }

 private:
  SharedCell<std::uint64_t>& cell(std::uint64_t offset) const {
    return *reinterpret_cast<SharedCell<std::uint64_t>*>(base_ + offset);
  }

  std::byte* base_;
  std::uint64_t bytes_;
};

inline std::uint64_t Chain::load(std::uint64_t offset) const {
  return cell(offset).load(INGOT_RULE("loads-acquire") ? std::memory_order_acquire : std::memory_order_relaxed);
}

}  // namespace ingot::replication_view_heap
