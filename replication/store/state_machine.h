// The interface of a replicated, deterministic state. The replica feeds it the agreed commands, in order, each once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/types.h"
#include "replication/store/tick.h"

namespace ingot::inline replication_store {

// What one call may do, counted in steps and not in time, so that a simulator repeats it. A step is a key that is
// looked at, or a version that is written, taken back or freed. What takes several at once may take more than there
// are. Not thread-safe.
class StepBudget {
 public:
  static constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

  explicit StepBudget(std::int64_t steps = kUnbounded) : left_(steps) {}

  void take(std::int64_t steps = 1) { left_ -= steps; }
  void take_all() { left_ = 0; }
  bool spent() const { return left_ <= 0; }

 private:
  std::int64_t left_;
};

// A query that may take long, carried out in steps. Not thread-safe; ends before its state machine does. Commands may
// be applied, also in part, and snapshots loaded in between.
class QueryInSteps {
 public:
  virtual ~QueryInSteps() = default;

  // Goes on; the answer, or nothing: the steps are spent. It is about one state, that of one of the calls.
  virtual std::optional<std::string> go_on(StepBudget& steps) = 0;
};

// A query that is answered when there is something to say. Not thread-safe; ends before its state machine does.
class StandingQuery {
 public:
  virtual ~StandingQuery() = default;

  // To be called once, and again whenever the state may have moved. Looks at what is new since the last call, in bounded
  // time. The answer, or nothing as long as there is nothing to say; while it is not taken, a later call gives it, too.
  // `overdue`: an answer of little use is wanted as well, one that only says how far the state has come.
  virtual std::optional<std::string> look(bool overdue) = 0;
};

// Not thread-safe; used by its replica's loop only. Deterministic: state and results depend only on the sequence of
// applied commands. Commands come from clients: a malformed one gives an error result, never a crash.
class StateMachine {
 public:
  virtual ~StateMachine() = default;

  // Applies one command and returns its result. REQUIRES: slots do not descend; several commands may share a slot.
  virtual std::string apply(Slot slot, std::string_view command) = 0;

  // The same for a command that may take long. Nothing: it is not applied yet, since the steps are spent; this is to be
  // called again with the same arguments and new steps. Until it has returned the result, queries are answered from a
  // whole state, the one before the command or the one after it, and nothing else may be called. It comes further with
  // each call that has a step. The result and the state do not depend on the steps.
  virtual std::optional<std::string> apply_some(Slot slot, std::string_view command, StepBudget& steps) {
    steps.take();
    return apply(slot, command);
  }

  // This command is about to be applied, with others that are expected before the first of them. Changes nothing. So a
  // state machine can begin to load what they need, for all at once, into the processor's caches.
  virtual void expect(std::string_view /*command*/) const {}

  // Answers a query on the current state; changes nothing.
  virtual std::string query(std::string_view query) const = 0;

  // The same for a query that may take long. Null: query() answers it in bounded time.
  virtual std::unique_ptr<QueryInSteps> query_in_steps(std::string_view /*query*/) const { return nullptr; }

  // The same for a query that may wait. Null: it cannot, or it is malformed.
  virtual std::unique_ptr<StandingQuery> stand(std::string_view /*query*/) const { return nullptr; }

  // Takes bytes, part by part; a part is valid only during the call.
  using Sink = absl::FunctionRef<void(std::string_view)>;

  // Writes the whole state without a second copy of it in memory.
  virtual void save(Sink sink) const = 0;

  // The same bytes as one string.
  std::string save() const {
    std::string bytes;
    bytes.reserve(save_bytes());
    save([&](std::string_view part) { bytes.append(part); });
    return bytes;
  }

  // About how many bytes save writes, at low cost; 0: unknown.
  virtual std::size_t save_bytes() const { return 0; }

  // Replaces the state, on the loop's thread, in constant time. Afterwards the Load holds the former state, which may
  // be large, until it is destroyed, on any thread.
  using Load = absl::AnyInvocable<void() &&>;

  // The slow part of loading. Runs on any thread, also while the loop uses the state, so it reads nothing that apply or
  // a Load changes. The Load does not need the bytes. Errors: INVALID_ARGUMENT (save did not write these bytes).
  // REQUIRES: this object still exists when the Load is called.
  virtual absl::StatusOr<Load> decode(std::string_view snapshot) = 0;

  // Both steps at once, on the loop's thread. After an error the state is unchanged.
  absl::Status load(std::string_view snapshot) {
    auto decoded = decode(snapshot);
    if (decoded.ok()) (*std::move(decoded))();
    return decoded.status();
  }

  // The state's own time, which passes by ticks (replication/store/tick.h): commands that the leading replica proposes.
  struct Clock {
    bool runs = false;    // time is to pass
    bool behind = false;  // the last tick has left work for the next one, which is due at once
    Tick last;            // without its ms
  };
  // By default it stands still. Cheap.
  virtual Clock clock() const { return {}; }

  // Equal on replicas that have applied the same commands. Cheap: apply keeps it up to date.
  virtual std::uint64_t digest() const = 0;
};

}  // namespace ingot::replication_store
