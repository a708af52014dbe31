// The names of core/shared_cell.h for tests that model the memory. Only they include it.
//
// All sources of such a test that use these names are compiled with INGOT_MODELLED_MEMORY: the inline functions of one
// program must be the same everywhere.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace ingot::inline core {

// Decides what a load returns. Accesses are at most 8 bytes and do not cross a multiple of 8. Stores reach the real
// memory, too, after the call; so while no model is set, cells are what was stored last.
class MemoryModel {
 public:
  using Update = std::function<std::uint64_t(std::uint64_t)>;

  virtual ~MemoryModel() = default;
  virtual void load(const void* at, void* out, std::size_t bytes, std::memory_order order) = 0;
  virtual void store(const void* at, const void* in, std::size_t bytes, std::memory_order order) = 0;
  // An atomic read-modify-write, relaxed. Stores next(old value), also at `at`, and returns the old value.
  virtual std::uint64_t update(void* at, std::size_t bytes, const Update& next) = 0;
  virtual void store_load_fence() = 0;
  virtual void store_store_fence() = 0;
};

// Null: accesses go to the real memory.
inline constinit MemoryModel* memory_model = nullptr;

template <typename T>
class SharedCell {
 public:
  static constexpr bool is_always_lock_free = true;

  constexpr SharedCell() = default;
  constexpr SharedCell(T value) : value_(value) {}  // NOLINT: as std::atomic
  SharedCell(const SharedCell&) = delete;
  SharedCell& operator=(const SharedCell&) = delete;

  T load(std::memory_order order) const {
    if (memory_model == nullptr) return value_;
    T value;
    memory_model->load(this, &value, sizeof value, order);
    return value;
  }
  void store(T value, std::memory_order order) {
    if (memory_model != nullptr) memory_model->store(this, &value, sizeof value, order);
    value_ = value;
  }
  T fetch_or(T bits, std::memory_order) {
    return update([bits](T old) { return static_cast<T>(old | bits); });
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order) {
    const T old = update([&](T now) { return now == expected ? desired : now; });
    const bool same = old == expected;
    expected = old;
    return same;
  }

 private:
  template <typename Next>
  T update(const Next& next) {
    if (memory_model == nullptr) return std::exchange(value_, next(value_));
    return static_cast<T>(memory_model->update(
        &value_, sizeof(T), [&](std::uint64_t old) { return static_cast<std::uint64_t>(next(static_cast<T>(old))); }));
  }

  T value_{};
};

// Calls visit(offset, bytes) for pieces that do not cross a multiple of 8.
template <typename Visit>
void for_each_piece(const void* shared, std::size_t bytes, Visit visit) {
  const auto first = reinterpret_cast<std::uintptr_t>(shared);
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t piece = std::min<std::size_t>(bytes - done, 8 - (first + done) % 8);
    visit(done, piece);
    done += piece;
  }
}

inline void copy_to_shared(void* to, const void* from, std::size_t bytes) {
  for_each_piece(to, bytes, [&](std::size_t offset, std::size_t piece) {
    char* const at = static_cast<char*>(to) + offset;
    const char* const in = static_cast<const char*>(from) + offset;
    if (memory_model != nullptr) memory_model->store(at, in, piece, std::memory_order_relaxed);
    std::memcpy(at, in, piece);
  });
}

inline void copy_from_shared(void* to, const void* from, std::size_t bytes) {
  for_each_piece(from, bytes, [&](std::size_t offset, std::size_t piece) {
    const char* const at = static_cast<const char*>(from) + offset;
    char* const out = static_cast<char*>(to) + offset;
    if (memory_model != nullptr) return memory_model->load(at, out, piece, std::memory_order_relaxed);
    std::memcpy(out, at, piece);
  });
}

inline std::string_view view_of_shared(const void* at, std::size_t bytes, std::string& scratch) {
  scratch.resize(bytes);
  copy_from_shared(scratch.data(), at, bytes);
  return scratch;
}

inline void store_store_fence() {
  if (memory_model != nullptr) memory_model->store_store_fence();
}

}  // namespace ingot::core
