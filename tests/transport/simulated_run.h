// One run of a channel protocol on the incoherent machine, determined by its seed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "transport/sites.h"

namespace ingot::test {

// The part that is removed from the protocol; none by default.
struct Mutation {
  Site weakened = Site::kCount;
  bool drop_transport_fence = false;
};

enum class Fault { kKill, kStop, kPause };

// A fault of core 1, before its access of that number, instead of the seed's.
struct PlannedFault {
  Fault fault;
  int access;
};

struct RunResult {
  std::string failure;          // empty: every property held
  int faults = 0;               // cores that were paused, stopped or killed
  std::uint64_t delivered = 0;  // messages
  std::uint64_t parked = 0;     // SRBP: tickets that were passed unpublished
};

// Two to four cores send one another messages of many sizes through channels of a few lines, while some of them are
// paused, stopped for good or killed between two accesses. Checked: every message arrives whole, once and in its
// sender's order; every core that is neither dead nor stopped finishes, whatever the others do; no wake-up is lost.
RunResult run_nvp(std::uint64_t seed, const Mutation& mutation = {}, std::optional<PlannedFault> fault = {});
RunResult run_srbp(std::uint64_t seed, const Mutation& mutation = {}, std::optional<PlannedFault> fault = {});

}  // namespace ingot::test
