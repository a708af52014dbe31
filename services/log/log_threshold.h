// Which lines of the log are written. The names are etcd's.
#pragma once

#include <array>
#include <cstdint>

namespace ingot::inline services_log {

enum class LogThreshold : std::uint8_t {
  kDebug,  // all lines: there are none of less importance than kInfo
  kInfo,
  kWarn,  // warnings and errors
  kError,
};
constexpr std::array<const char*, 4> enum_names(LogThreshold) { return {"debug", "info", "warn", "error"}; }

}  // namespace ingot::services_log
