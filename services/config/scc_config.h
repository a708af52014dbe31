// The settings of `ingotd --backend=scc` besides those of every backend.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "services/config/settings.h"
#include "transport/scc/geometry.h"
#include "transport/scc/options.h"

namespace ingot::inline services_config {

inline constexpr std::uint64_t kCyclesPerMessageMax = 1'000'000'000;

// `cores` are by replica, and `gateway` is the core where requests enter and leave; none and -1: chosen by placement.
// `cycles_per_message` is the computation of a replica or of the gateway for each message that it handles and each
// batch of effects: messages, polls and stable storage are charged by the chip itself.
struct SccConfig {
  INGOT_SCC_SETTINGS(INGOT_SETTING_MEMBER)
};

}  // namespace ingot::services_config
