// The learner: turns reports of decided slots, in any order and with repetitions, into decisions in order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "replication/agreement/agreement.h"
#include "replication/agreement/command_log.h"

namespace ingot::inline replication_agreement {

// Invariant: slots below decided() were emitted, each once; decided() itself is not known here; end() is above every
// slot reported. decided() < end() is a gap: messages were missed. Keeps kLearnerAheadSlots slots and
// kLearnerAheadBytesMax bytes above the gap and drops what exceeds that, to be fetched later. Not thread-safe.
class Learner {
 public:
  using Command = std::shared_ptr<const std::string>;

  explicit Learner(const AgreementBounds& bounds);

  // Slot `slot` is decided with `command`. The first report counts; repetitions change nothing.
  void learn(Slot slot, const Command& command, Effects& effects);

  // Some slot just below `end` is decided, on some replica.
  void note_known(Slot end) { end_ = std::max(end_, end); }

  // Slots below `first_undecided` came with a snapshot.
  void installed(Slot first_undecided, Effects& effects);

  // True if learn(slot) would change nothing.
  bool knows(Slot slot) const;

  // The command of a decided slot, if it is held here; null if it is not, or if the slot is not known to be decided.
  Command command(Slot slot) const;

  // Above every slot whose command is known here, emitted or not.
  Slot known_end() const;

  Slot decided() const { return log_.end(); }
  Slot end() const { return end_; }
  bool has_gap() const { return decided() < end_; }
  const CommandLog& log() const { return log_; }

 private:
  Command& ahead(Slot slot) { return ahead_[slot.value() & (ahead_.size() - 1)]; }
  const Command& ahead(Slot slot) const { return ahead_[slot.value() & (ahead_.size() - 1)]; }
  bool in_reach(Slot slot) const { return slot.value() - decided().value() < ahead_.size(); }
  void emit(Command command, Effects& effects);
  void emit_ahead(Effects& effects);

  CommandLog log_;
  Slot end_;
  // Ring of decided commands above the gap: slot s at s % size, a power of two; null where unknown.
  std::vector<Command> ahead_;
  std::size_t ahead_bytes_ = 0;
  std::size_t ahead_entries_ = 0;
};

}  // namespace ingot::replication_agreement
