// What is replicated: anything deterministic. The replica feeds it the agreed commands, in order, each once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
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

  // Takes bytes, part by part; a part is valid during the call only.
  using Sink = absl::FunctionRef<void(std::string_view)>;

  // Writes the whole state, without holding it a second time.
  virtual void save(Sink sink) const = 0;

  // The same bytes at once.
  std::string save() const {
    std::string bytes;
    bytes.reserve(save_bytes());
    save([&](std::string_view part) { bytes.append(part); });
    return bytes;
  }

  // About how many those are, without the work; 0: unknown.
  virtual std::size_t save_bytes() const { return 0; }

  // Replaces the state, at no cost that grows with it: on the loop's thread. Afterwards it holds the former state, which may
  // be large, until it ends, on any thread.
  using Load = absl::AnyInvocable<void() &&>;

  // The long part of the way back. On any thread, also while the loop uses the state: so it looks at nothing that apply
  // or a Load changes. The Load does not need the bytes. REQUIRES: this is still there when the Load is
  // called. Errors: INVALID_ARGUMENT (save did not write these bytes).
  virtual absl::StatusOr<Load> decode(std::string_view snapshot) = 0;

  // Both at once, on the loop's thread. After an error the state is as before.
  absl::Status load(std::string_view snapshot) {
    auto decoded = decode(snapshot);
    if (decoded.ok()) (*std::move(decoded))();
    return decoded.status();
  }

  // Equal on replicas that have applied the same commands. Cheap: kept up to date by apply.
  virtual std::uint64_t digest() const = 0;
};

}  // namespace ingot
