#include "tests/simulation/checkers/log.h"

#include <algorithm>

namespace ingot::simulation {

void LogChecker::decided(int replica, const Decision& decision) {
  const auto who = [&] { return "replica " + std::to_string(replica); };
  const auto slot = [&] { return "slot " + std::to_string(decision.slot.value()); };
  Slot& next = next_[static_cast<std::size_t>(replica)];
  if (decision.slot != next) {
    return object("order: " + who() + " decides " + slot() + " instead of slot " + std::to_string(next.value()));
  }
  next = next.next();
  if (decision.slot == end()) return log_.push_back(decision.command);
  const auto& known = log_[decision.slot.value()];
  if (known != decision.command && *known != *decision.command) {
    object("agreement: " + who() + " decides another command in " + slot() + " than was decided before");
  }
}

// The slots skipped by a snapshot cannot be decided differently: its donor had decided them.
void LogChecker::installed(int replica, Slot first_undecided) {
  Slot& next = next_[static_cast<std::size_t>(replica)];
  next = std::max(next, first_undecided);
  if (next > end()) object("order: replica " + std::to_string(replica) + " installed what nobody has decided");
}

}  // namespace ingot::simulation
