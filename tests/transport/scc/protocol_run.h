// One run of NVP or SRBP on the simulated chip, determined by its seed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "transport/sites.h"

namespace ingot::test {

struct ProtocolResult {
  std::string failure;          // empty: every property held
  int faults = 0;               // cores that were killed, or stopped for a while or for good
  std::uint64_t delivered = 0;  // messages
  std::uint64_t hash = 0;       // of the run
};

// Two to four cores anywhere on the chip send one another messages of many sizes through channels of a few lines, with
// delays, while some are stopped or killed at any moment. Checked: every message arrives whole, once and in its
// sender's order; every core that is neither dead nor stopped finishes. `weakened`: that site's order is removed.
ProtocolResult run_protocol(std::string_view kind, std::uint64_t seed, Site weakened = Site::kCount);

}  // namespace ingot::test
