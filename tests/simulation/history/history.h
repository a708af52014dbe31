// The operations that the clients of one run called and the answers they got: the only input of the history checkers.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/simulation/history/virtual_time.h"

namespace ingot::simulation {

// A moment in the order of events of a run; finer than time, since several things happen at one nanosecond.
using Moment = std::uint64_t;
inline constexpr Moment kUnanswered = ~Moment{0};

// A value of a key: the number of the operation that wrote it; 0: the key was never written.
using Value = std::uint32_t;

struct Operation {
  enum class Kind : std::uint8_t {
    kRead,
    kWrite,
    kCompareAndWrite,
    kChurn,    // puts and deletes keys that no other kind touches, one key several times; or concerns a lease
    kCompact,  // to the revision `expected`
    kDisarm,   // the alarm that refuses writes
  };

  Kind kind = Kind::kRead;
  std::uint32_t client = 0;
  std::uint32_t key = 0;
  Value written = 0;   // kWrite, kCompareAndWrite, kChurn: its own number
  Value expected = 0;  // kCompareAndWrite: writes only if the key has this value
  Moment invoked = 0;
  Moment answered = kUnanswered;
  // The answer.
  bool succeeded = false;     // kCompareAndWrite
  bool no_space = false;      // refused: it changed no key
  Value found = 0;            // kRead, and kCompareAndWrite that did not succeed: the key's value
  std::int64_t revision = 0;  // of the whole store, when the operation was carried out
};

// Whether it concerns the register of its key.
inline bool of_register(const Operation& operation) {
  return operation.kind == Operation::Kind::kRead || operation.kind == Operation::Kind::kWrite ||
         operation.kind == Operation::Kind::kCompareAndWrite;
}

// Whether it was answered as a write, or may have written without an answer.
inline bool wrote(const Operation& operation) {
  return !operation.no_space && (operation.kind == Operation::Kind::kWrite || operation.succeeded);
}

// Operation number n stands at n - 1.
using History = std::vector<Operation>;

}  // namespace ingot::simulation
