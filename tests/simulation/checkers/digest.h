// Replicas that have applied the same slots have the same state.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/types.h"
#include "tests/simulation/checkers/checker.h"

namespace ingot::simulation {

// Not thread-safe.
class DigestChecker : public Checker {
 public:
  void applied(int replica, Slot applied, std::uint64_t digest) {
    const std::size_t slot = applied.value();
    if (slot >= digests_.size()) digests_.resize(slot + 64);
    if (!digests_[slot]) digests_[slot] = digest;
    if (*digests_[slot] == digest) return;
    object("digest: replica " + std::to_string(replica) + " differs from another that has applied the slots below " +
           std::to_string(slot));
  }

 private:
  std::vector<std::optional<std::uint64_t>> digests_;  // by the slots below which everything is applied
};

}  // namespace ingot::simulation
