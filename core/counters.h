// Counters with one writer and any number of readers, in memory that may be shared between processes.
//
// A table names each counter once: id, metric name, unit and meaning in one place that cannot drift (after Aeron's
// counters). The writer adds without a read-modify-write, since nobody else writes; readers see each counter at some
// recent value, and a counter of kind kCounter never goes back within one incarnation of its writer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ingot {

enum class CounterKind : std::uint8_t { kCounter, kGauge };

struct CounterSpec {
  const char* name;  // metric name without the "ingot_" prefix; counters end in _total, units stand before that
  CounterKind kind;
  const char* help;
};

// One shared 64-bit cell. Zero-filled memory is a valid cell that holds 0.
class Counter {
 public:
  // Writer only.
  void add(std::uint64_t n) { value_.store(get() + n, std::memory_order_relaxed); }
  void set(std::uint64_t v) { value_.store(v, std::memory_order_relaxed); }
  // Writer only: like set; a reader that gets the value with get_acquire() sees every earlier store.
  void set_release(std::uint64_t v) { value_.store(v, std::memory_order_release); }

  // Any process or thread.
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }
  std::uint64_t get_acquire() const { return value_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

static_assert(sizeof(Counter) == 8 && std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace ingot
