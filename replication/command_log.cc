#include "replication/command_log.h"

#include <utility>

namespace ingot {

void CommandLog::append(Command command) {
  bytes_ += command->size();
  entries_.push_back(std::move(command));
  while (entries_.size() > 1 && over_limits() && !holds_first()) {
    bytes_ -= entries_.front()->size();
    entries_.pop_front();
    first_ = first_.next();
  }
}

void CommandLog::hold(Slot from, std::size_t slot_bytes, std::size_t held_bytes_max) {
  held_from_ = from;
  held_slot_bytes_ = slot_bytes;
  held_bytes_max_ = held_bytes_max;
}

bool CommandLog::holds_first() const {
  return held_bytes_max_ > 0 && first_ >= held_from_ && bytes_ + entries_.size() * held_slot_bytes_ <= held_bytes_max_;
}

void CommandLog::restart(Slot slot) {
  entries_.clear();
  bytes_ = 0;
  first_ = slot;
}

}  // namespace ingot
