#include "replication/agreement/command_log.h"

#include <utility>

namespace ingot::inline replication_agreement {

void CommandLog::append(Command command) {
  bytes_ += command->size();
  entries_.push_back(std::move(command));
  while (entries_.size() > 1 && over_limits()) {
    bytes_ -= entries_.front()->size();
    entries_.pop_front();
    first_ = first_.next();
  }
}

void CommandLog::restart(Slot slot) {
  entries_.clear();
  bytes_ = 0;
  first_ = slot;
}

}  // namespace ingot::replication_agreement
