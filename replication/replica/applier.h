// Applies decided batches to a state machine, each command once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/types.h"
#include "replication/replica/sessions.h"
#include "replication/requests/request.h"
#include "replication/store/state_machine.h"

namespace ingot::inline replication_replica {

// Not thread-safe; used by its replica's loop only. Deterministic, like the state machine that it wraps.
class Applier {
 public:
  // Valid during the callback only.
  struct Applied {
    Request request;  // payload is a view into the batch
    // kOk: with the result, of this or of an earlier time. kResultGone: carried out earlier, the result is no longer
    // kept. kBusy: refused, the client has too many requests outstanding.
    Response::Status status = Response::Status::kOk;
    std::string_view result;
    bool carried_out = false;  // just now: the state has changed. False: `result` is of an earlier time, or empty
  };

  // REQUIRES: `machine` outlives this, and only this applies commands to it.
  explicit Applier(StateMachine& machine) : machine_(machine) {}

  // Applies the batch of one slot, and calls `each` with the outcome of each command, in order. An empty batch is a
  // no-op; one that does not decode changes nothing, on any replica, and is counted. REQUIRES: slot == applied().
  void apply(Slot slot, std::string_view batch, absl::FunctionRef<void(const Applied&)> each);
  // The same in steps. False: they are spent, and the slot is under way; this is then to be called again with the same
  // slot and batch, whose bytes must stay, and `each` has been called for the commands that are applied.
  bool apply_some(Slot slot, std::string_view batch, StepBudget& steps, absl::FunctionRef<void(const Applied&)> each);
  // A slot is applied in part: its state is neither saved nor replaced.
  bool under_way() const { return under_way_; }

  Slot applied() const { return applied_; }  // slots below it are applied

  // Equal on replicas that have applied the same slots. Of a slot that is under way nothing is in it.
  std::uint64_t digest() const { return under_way_ ? digest_before_ : whole_digest(); }

  std::uint64_t applied_commands() const { return applied_commands_; }
  std::uint64_t duplicate_commands() const { return duplicate_commands_; }
  std::uint64_t refused_commands() const { return refused_commands_; }  // outside of their client's window
  std::uint64_t malformed_batches() const { return malformed_batches_; }

  // Writes sessions, applied slot and state machine as bytes. REQUIRES of this, and of a decoded snapshot's load: no
  // slot is under way.
  void save(StateMachine::Sink sink) const;
  std::string save() const;  // the same as one string

  // What precedes the state machine's bytes, for a group that begins with a state: nobody has a session with it.
  static std::string fresh_head(Slot applied) { return head(applied, Sessions()); }
  // How many bytes precede the state machine's, told by the first kHeadStartBytes; 0: save() did not write them.
  static constexpr std::size_t kHeadStartBytes = 3 * sizeof(std::uint64_t);
  static std::uint64_t head_bytes(std::string_view first);

  // About how many of these bytes are the state machine's.
  std::size_t save_bytes() const { return machine_.save_bytes(); }

  // The inverse of save(), in two steps like StateMachine::decode and its Load.
  struct Decoded {
    Slot applied;
    StateMachine::Load load;
  };
  absl::StatusOr<Decoded> decode(std::string_view snapshot);
  absl::Status load(std::string_view snapshot);

 private:
  static std::string head(Slot applied, const Sessions& sessions);
  void begin(std::string_view batch);
  bool apply_command(Slot slot, const Request& command, StepBudget& steps,
                     absl::FunctionRef<void(const Applied&)> each);
  bool carry_out(Slot slot, const Request& command, StepBudget& steps, absl::FunctionRef<void(const Applied&)> each);
  std::uint64_t whole_digest() const;

  StateMachine& machine_;
  Sessions sessions_;
  Slot applied_;
  bool under_way_ = false;            // the slot applied_
  std::vector<Request> commands_;     // of it
  std::size_t next_ = 0;              // of commands_, to be applied
  bool carrying_out_ = false;         // its session has told to carry it out
  std::uint64_t digest_before_ = 0;   // that slot
  std::uint64_t applied_commands_ = 0;
  std::uint64_t duplicate_commands_ = 0;
  std::uint64_t refused_commands_ = 0;
  std::uint64_t malformed_batches_ = 0;
};

}  // namespace ingot::replication_replica
