// When an instance has a view.
#pragma once

#include <array>
#include <cstdint>

#include "core/enum_names.h"

namespace ingot::inline services_config {

enum class ViewMode : std::uint8_t {
  kAuto,    // from the first connection to the view socket on
  kAlways,  // from the start on
  kOff,
};
constexpr std::array<const char*, 3> enum_names(ViewMode) { return {"auto", "always", "off"}; }

}  // namespace ingot::services_config
