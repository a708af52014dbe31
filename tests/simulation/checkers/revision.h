// Revisions never go back: an operation that begins after an answer sees at least that answer's revision, and each
// write makes a revision of its own. Cheaper than linearizability, and across keys, but it does not look at values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "tests/simulation/checkers/checker.h"
#include "tests/simulation/history/history.h"

namespace ingot::simulation {

// Not thread-safe.
class RevisionChecker : public Checker {
 public:
  // The lowest revision that an operation which begins now may see.
  std::int64_t floor() const { return floor_; }

  // `floor` is the value of floor() when the operation began.
  void answered(Value number, const Operation& operation, std::int64_t floor) {
    const bool writes = wrote(operation);
    if (operation.revision < floor + (writes ? 1 : 0)) {
      object("revisions: operation " + std::to_string(number) + " is answered at revision " +
             std::to_string(operation.revision) + " though " + std::to_string(floor) + " was known before it began");
    }
    if (writes && !written_.insert(operation.revision).second) {
      object("revisions: two writes share revision " + std::to_string(operation.revision));
    }
    floor_ = std::max(floor_, operation.revision);
  }

 private:
  std::int64_t floor_ = 0;
  std::set<std::int64_t> written_;
};

}  // namespace ingot::simulation
