// Exactly once, nothing lost, and no more than the quota: every write takes effect at most once in the state of each
// replica, and every acknowledged write is in the state of each replica that is up to date.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/simulation/checkers/checker.h"
#include "tests/simulation/history/history.h"

namespace ingot::simulation {

// Not thread-safe.
class EffectChecker : public Checker {
 public:
  // Bit n: operation n is in a state. A snapshot carries it along.
  using Effects = std::vector<bool>;

  explicit EffectChecker(int replicas) : effects_(static_cast<std::size_t>(replicas)) {}

  // The state machine of a replica carries out a write.
  void carried_out(int replica, Value operation);
  // After a command. What is held and not counted are deletes of the compacted revision, which the quota bounded
  // before, and what waits to be freed, which never makes it more than that.
  struct Counted {
    std::int64_t bytes = 0;       // that the replica's store counts
    std::int64_t held_bytes = 0;  // by the same rule
    std::int64_t bytes_max = 0;   // that may be counted
  };
  void counted(int replica, const Counted& counted);
  // A client's write was answered as not carried out, so it must never take effect.
  void refused(Value operation) { refused_.push_back(operation); }
  // A client's write was answered as carried out.
  void acknowledged(Value operation) { acknowledged_.push_back(operation); }

  const Effects& effects(int replica) const { return effects_[static_cast<std::size_t>(replica)]; }
  void loaded(int replica, Effects effects) { effects_[static_cast<std::size_t>(replica)] = std::move(effects); }
  void born(int replica) { effects_[static_cast<std::size_t>(replica)].clear(); }

  // REQUIRES: the replica has applied every slot that any replica has decided.
  void check_durability(int replica);
  void check_refused(int replica);

 private:
  std::vector<Effects> effects_;  // by replica
  std::vector<Value> acknowledged_;
  std::vector<Value> refused_;
};

}  // namespace ingot::simulation
