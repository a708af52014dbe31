// What all checkers of a run share: the first violation that a checker found, as a sentence.
#pragma once

#include <string>

namespace ingot::simulation {

// A checker sees the inputs and outputs of replicas and knows nothing of how a protocol works. Not thread-safe.
class Checker {
 public:
  // Empty: no violation so far.
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
