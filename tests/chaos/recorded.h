// Requests to a real daemon and its answers: one line of JSON per operation.
//
//   {"client":3,"key":"chaos/1/2","op":"cas","written":17,"expected":12,"called_ns":9,"answered_ns":11,
//    "found":0,"succeeded":true,"revision":40}
//
// A value is the number of the operation that wrote it; 0: the key does not exist. Times are of one monotonic clock. An
// operation of unknown outcome has no "answered_ns": it may take effect at any time after its call, or never.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ingot::chaos {

inline constexpr std::uint64_t kOpen = std::numeric_limits<std::uint64_t>::max();
// Found, but written by no operation.
inline constexpr std::uint32_t kNobodysValue = std::numeric_limits<std::uint32_t>::max();

struct Recorded {
  enum class Kind : std::uint8_t { kGet, kPut, kCas };

  Kind kind = Kind::kGet;
  int client = 0;
  std::string key;
  std::uint32_t written = 0;
  std::uint32_t expected = 0;
  std::uint64_t called_ns = 0;
  std::uint64_t answered_ns = kOpen;
  std::uint32_t found = 0;
  bool succeeded = false;     // kCas
  std::int64_t revision = 0;  // of the store, with the answer

  bool answered() const { return answered_ns != kOpen; }
  bool wrote() const { return answered() && (kind == Kind::kPut || (kind == Kind::kCas && succeeded)); }
};

using Records = std::vector<Recorded>;

std::string to_json_line(const Recorded& operation);

// Empty if every write has its own revision and revisions grow with time; else a sentence.
std::string find_revision_violation(const Records& records);

// Empty if the project's own checker (tests/simulation/history/linearizability.h) finds an order; else the checker's
// sentence.
std::string find_order_violation(const Records& records);

// The longest time between two acknowledged writes, in ms.
double gap_ms_max(const Records& records);

}  // namespace ingot::chaos
