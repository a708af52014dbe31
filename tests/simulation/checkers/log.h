// Agreement and order: no two replicas decide differently in one slot, and each incarnation of a replica decides every
// slot once and in order, except for slots that a snapshot skips.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/types.h"
#include "replication/agreement/agreement.h"
#include "tests/simulation/checkers/checker.h"

namespace ingot::simulation {

// Not thread-safe.
class LogChecker : public Checker {
 public:
  explicit LogChecker(int replicas) : next_(static_cast<std::size_t>(replicas)) {}

  void decided(int replica, const Decision& decision);
  void installed(int replica, Slot first_undecided);
  // A new incarnation, which has decided nothing yet.
  void born(int replica) { next_[static_cast<std::size_t>(replica)] = Slot(0); }

  Slot next(int replica) const { return next_[static_cast<std::size_t>(replica)]; }
  // The first slot that no replica has decided.
  Slot end() const { return Slot(log_.size()); }

 private:
  std::vector<Slot> next_;  // by replica
  std::vector<std::shared_ptr<const std::string>> log_;
};

}  // namespace ingot::simulation
