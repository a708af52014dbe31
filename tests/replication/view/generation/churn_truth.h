// A store in which revision r changes one key that is computed from r: so what each key is at each revision is
// computed, not recorded, and every answer can be judged by itself.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "replication/view/generation/layout.h"

namespace ingot::test {

inline constexpr ViewRevision kChurnedKeys = 997;  // a prime, so that revision * kChurnStep goes through all of them
inline constexpr ViewRevision kChurnStep = 390;

inline std::string churned_key(ViewRevision key) {
  const std::string digits = std::to_string(key);
  return "/churn/" + std::string(4 - digits.size(), '0') + digits;
}
inline ViewRevision churned_by(ViewRevision revision) { return revision * kChurnStep % kChurnedKeys; }
inline bool churn_deletes(ViewRevision revision) { return revision / kChurnedKeys % 5 == 4; }
inline std::string churned_value(ViewRevision revision) {
  return std::to_string(revision) + std::string(static_cast<std::size_t>(revision % 300), 'v');
}

// The last revision up to `at` that has changed a key; below 1: none.
class LastChurn {
 public:
  LastChurn() : place_(kChurnedKeys) {
    for (ViewRevision i = 0; i < kChurnedKeys; ++i) place_[static_cast<std::size_t>(churned_by(i))] = i;
  }
  ViewRevision operator()(ViewRevision key, ViewRevision at) const {
    const ViewRevision back = (at - place_[static_cast<std::size_t>(key)]) % kChurnedKeys;
    return at - (back < 0 ? back + kChurnedKeys : back);
  }

 private:
  std::vector<ViewRevision> place_;
};

}  // namespace ingot::test
