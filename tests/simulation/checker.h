// What all checkers of a run share: the first thing that one of them objects to, as a sentence.
#pragma once

#include <string>

namespace ingot::simulation {

// A checker sees what goes in and comes out of replicas, and knows nothing of how a protocol works. Not thread-safe.
class Checker {
 public:
  // Empty: nothing to object to so far.
  const std::string& violation() const { return violation_; }

 protected:
  Checker() = default;
  ~Checker() = default;

  void object(const std::string& what) {
    if (violation_.empty()) violation_ = what;
  }

 private:
  std::string violation_;
};

}  // namespace ingot::simulation
