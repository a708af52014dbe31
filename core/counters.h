// Counters with one writer and any number of readers, in memory that may be shared between processes.
//
// A table defines each counter once: id, metric name, unit and help (after Aeron's counters). The writer needs no
// atomic read-modify-write, since it is the only one. Readers see a recent value of each counter; a counter of kind
// kCounter never decreases within one incarnation of its writer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/shared_cell.h"

namespace ingot::inline core {

enum class CounterKind : std::uint8_t { kCounter, kGauge };

// The quantity that a cell's number counts.
enum class CounterUnit : std::uint8_t {
  kNumber,  // not a quantity: an id, a flag, a version, a digest
  kEvents,  // occurrences of the event in the name
  kSlots,
  kCommands,
  kMessages,
  kBytes,
  kNanoseconds,  // in metrics: seconds, Prometheus' unit
};

struct CounterSpec {
  const char* name;  // metric name without the "ingot_" prefix: see well_named
  CounterKind kind;
  CounterUnit unit;
  const char* help;
};

// The factor from a cell's value to its metric.
constexpr double metric_scale(CounterUnit unit) { return unit == CounterUnit::kNanoseconds ? 1e-9 : 1; }

// The word in a metric's name that gives its unit; empty if none is required.
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

// A name contains its unit's word, and no other unit's; a counter's name ends in _total, and no gauge's does.
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
  // Writer only: like set and add; a reader that gets the value with get_acquire() sees every earlier store.
  void set_release(std::uint64_t v) { value_.store(v, std::memory_order_release); }
  void add_release(std::uint64_t n) { set_release(get() + n); }
  // The one store that several threads of the writer may make at the same time, if they make no other meanwhile: the
  // value becomes `v` unless it is greater already, so it never falls.
  void raise(std::uint64_t v) {
    std::uint64_t now = get();
    while (now < v && !value_.compare_exchange_strong(now, v, std::memory_order_relaxed)) continue;
  }

  // Any process or thread.
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }
  std::uint64_t get_acquire() const { return value_.load(std::memory_order_acquire); }

 private:
  SharedCell<std::uint64_t> value_{0};
};

static_assert(sizeof(Counter) == 8 && SharedCell<std::uint64_t>::is_always_lock_free);

}  // namespace ingot::core
