// The slots that a leader has proposed and does not know to be decided, and when to retransmit them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/replica_set.h"
#include "core/types.h"
#include "replication/agreement/agreement.h"
#include "replication/agreement/limits.h"

namespace ingot::inline replication_agreement {

// One proposed slot. `votes` and `phase` belong to the protocol that needs them.
struct Proposal {
  std::shared_ptr<const std::string> command;  // null: the place is free, or its slot is known to be decided
  std::uint64_t id = 0;                        // of Agreement::propose
  ReplicaSet votes{};                          // replicas that voted yes
  std::uint8_t phase = 0;
  std::size_t bytes = 0;  // of the command, also after the place was closed
};

// The slots [base, next): base is the first undecided one, next the one to propose next. Slots close in any order; the
// base follows the learner. Has room for window_slots slots, and for another one while all of them, closed or not, have
// fewer than window_bytes: that bounds what can be undecided. A ring; does not allocate after construction. Not
// thread-safe.
class ProposalWindow {
 public:
  explicit ProposalWindow(int window_slots, std::size_t window_bytes = kWindowBytesMax);

  bool has_slot() const { return next_.value() - base_.value() < slots_max_; }
  bool has_room() const { return has_slot() && bytes_ < bytes_max_; }
  // Takes the next slot. REQUIRES: has_room().
  Slot add(std::uint64_t id, std::shared_ptr<const std::string> command);

  // Likewise, for a recovered command: only the slots are bounded, and the command may be a no-op. False: no slot is
  // left.
  [[nodiscard]] bool add_recovered(std::uint64_t id, std::shared_ptr<const std::string> command);
  ProposalWindow empty_copy() const { return ProposalWindow(static_cast<int>(slots_max_), bytes_max_); }
  // Drops everything and continues at `base`.
  void restart(Slot base);

  // The open proposal of a slot, or null.
  Proposal* find(Slot slot);
  const Proposal* find(Slot slot) const { return const_cast<ProposalWindow*>(this)->find(slot); }
  // REQUIRES: find(slot) is not null.
  void close(Slot slot);
  // Slots below `decided` are decided: the window moves on, past slots that other leaders filled.
  void advance(Slot decided);

  void for_each_open(absl::FunctionRef<void(Slot, const Proposal&)> visit) const;

  Slot base() const { return base_; }
  Slot next() const { return next_; }
  int open() const { return open_; }
  std::size_t bytes() const { return bytes_; }  // of the slots [base, next)

 private:
  Slot put(std::uint64_t id, std::shared_ptr<const std::string> command);

  std::uint64_t slots_max_;
  std::size_t bytes_max_;
  std::vector<Proposal> ring_;  // slot s at s % size, a power of two
  Slot base_;
  Slot next_;
  int open_ = 0;
  std::size_t bytes_ = 0;
};

// Decides when to retransmit: after kRetransmitTicks without progress, then after twice as many, and so on.
class RetransmitTimer {
 public:
  void progress() {
    ticks_ = 0;
    due_at_ = kRetransmitTicks;
  }
  // Once a tick while anything is outstanding.
  [[nodiscard]] bool due() {
    if (++ticks_ < due_at_) return false;
    ticks_ = 0;
    due_at_ = std::min(2 * due_at_, kRetransmitTicksMax);
    return true;
  }

 private:
  int ticks_ = 0;
  int due_at_ = kRetransmitTicks;
};

// Bounds one retransmission: grants until kRetransmitBytesMax bytes were granted.
class RetransmitBudget {
 public:
  [[nodiscard]] bool grant(std::size_t bytes) {
    if (spent_bytes_ >= kRetransmitBytesMax) return false;
    spent_bytes_ += bytes;
    return true;
  }

 private:
  std::size_t spent_bytes_ = 0;
};

}  // namespace ingot::replication_agreement
