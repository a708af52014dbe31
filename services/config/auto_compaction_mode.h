// How automatic compaction chooses the revision to compact to.
#pragma once

#include <array>
#include <cstdint>

#include "core/enum_names.h"

namespace ingot::inline services_config {

enum class AutoCompactionMode : std::uint8_t {
  kPeriodic,  // by age
  kRevision,  // by number
};
constexpr std::array<const char*, 2> enum_names(AutoCompactionMode) { return {"periodic", "revision"}; }

}  // namespace ingot::services_config
