// How lines of the log are written.
#pragma once

#include <array>
#include <cstdint>

namespace ingot::inline services_log {

enum class LogFormat : std::uint8_t { kText, kJson };
constexpr std::array<const char*, 2> enum_names(LogFormat) { return {"text", "json"}; }

}  // namespace ingot::services_log
