// What is replicated: anything deterministic. The replica feeds it the agreed commands, in order, each once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "core/types.h"

namespace ingot {

// Not thread-safe; used by its replica's loop only. Deterministic: state and results depend on nothing but the
// sequence of applied commands. Commands come from clients: malformed ones give an error result, never a crash.
class StateMachine {
 public:
  virtual ~StateMachine() = default;

  // Applies one command and returns its result. REQUIRES: slots do not descend; several commands may share a slot.
  virtual std::string apply(Slot slot, std::string_view command) = 0;

  // Answers a query on the current state; changes nothing.
  virtual std::string query(std::string_view query) const = 0;

  // The whole state as bytes, and back. load replaces the state; bytes that save did not write are refused with an
  // error, and then the state is as before.
  virtual std::string save() const = 0;
  virtual absl::Status load(std::string_view snapshot) = 0;

  // Equal on replicas that have applied the same commands. Cheap: kept up to date by apply.
  virtual std::uint64_t digest() const = 0;
};

}  // namespace ingot
