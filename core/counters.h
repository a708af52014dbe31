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
#include <string_view>

namespace ingot {

enum class CounterKind : std::uint8_t { kCounter, kGauge };

// What one of a cell's numbers stands for.
enum class CounterUnit : std::uint8_t {
  kNumber,  // no quantity: an id, a flag, a version, a digest
  kEvents,  // occurrences of what the name says
  kSlots,
  kCommands,
  kMessages,
  kBytes,
  kNanoseconds,  // in metrics: seconds, as Prometheus counts
};

struct CounterSpec {
  const char* name;  // metric name without the "ingot_" prefix: see well_named
  CounterKind kind;
  CounterUnit unit;
  const char* help;
};

// By how much a cell's value is multiplied in a metric.
constexpr double metric_scale(CounterUnit unit) { return unit == CounterUnit::kNanoseconds ? 1e-9 : 1; }

// The word by which a metric's name tells its unit; empty: it need not.
constexpr std::string_view name_word(CounterUnit unit) {
  switch (unit) {
    case CounterUnit::kNumber:
    case CounterUnit::kEvents:
      return "";
    case CounterUnit::kSlots:
      return "slot";
    case CounterUnit::kCommands:
      return "commands";
    case CounterUnit::kMessages:
      return "messages";
    case CounterUnit::kBytes:
      return "bytes";
    case CounterUnit::kNanoseconds:
      return "seconds";
  }
  return "";
}

// A name tells the unit, and no other one that has a word; a counter's ends in _total, and no gauge's does.
constexpr bool well_named(const CounterSpec& spec) {
  const std::string_view name = spec.name;
  const auto has = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
  if (name.ends_with("_total") != (spec.kind == CounterKind::kCounter) || !has(name_word(spec.unit))) return false;
  for (const CounterUnit other : {CounterUnit::kBytes, CounterUnit::kNanoseconds}) {
    if (other != spec.unit && has(name_word(other))) return false;
  }
  return true;
}

// One shared 64-bit cell. Zero-filled memory is a valid cell that holds 0.
class Counter {
 public:
  // Writer only.
  void add(std::uint64_t n) { value_.store(get() + n, std::memory_order_relaxed); }
  void set(std::uint64_t v) { value_.store(v, std::memory_order_relaxed); }
  // Writer only: like set, and everything stored before it is visible to whoever sees the value by get_acquire().
  void set_release(std::uint64_t v) { value_.store(v, std::memory_order_release); }

  // Anybody.
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }
  std::uint64_t get_acquire() const { return value_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

static_assert(sizeof(Counter) == 8 && std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace ingot
