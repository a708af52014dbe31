// The newest decided commands that a replica keeps for peers that fell behind.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>

#include "core/types.h"

namespace ingot::inline replication_agreement {

// Contiguous slots [first, end). Keeps at most `slots_max` entries and `bytes_max` bytes of commands (but always the
// newest entry). At the limit the oldest entries are dropped; a peer that lacks those needs a snapshot. Not
// thread-safe.
class CommandLog {
 public:
  using Command = std::shared_ptr<const std::string>;

  CommandLog(int slots_max, std::size_t bytes_max) : slots_max_(slots_max), bytes_max_(bytes_max) {}

  // The command of slot end().
  void append(Command command);

  // REQUIRES: first() <= slot < end().
  const Command& at(Slot slot) const { return entries_[slot.value() - first_.value()]; }

  // Drops all entries and continues at `slot`.
  void restart(Slot slot);

  Slot first() const { return first_; }
  Slot end() const { return first_.plus(entries_.size()); }
  std::size_t bytes() const { return bytes_; }

 private:
  bool over_limits() const { return entries_.size() > slots_max_ || bytes_ > bytes_max_; }

  std::size_t slots_max_;
  std::size_t bytes_max_;
  Slot first_;
  std::deque<Command> entries_;
  std::size_t bytes_ = 0;
};

}  // namespace ingot::replication_agreement
