// One line of the log:
//
//   text  2026-03-01T12:00:00.123Z warning replica-1: TEXT
//   json  {"time":"2026-03-01T12:00:00.123Z","level":"warning","process":"replica-1","message":"TEXT"}
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "services/log/log_format.h"

namespace ingot::inline services_log {

enum class LogLevel : std::uint8_t {
  kInfo,
  kWarning,  // something is amiss, and Ingot goes on
  kError     // something failed: a process ends, or a library could not do what it was asked
};
constexpr std::array<const char*, 3> enum_names(LogLevel) { return {"info", "warning", "error"}; }

struct LogRecord {
  absl::Time time;
  LogLevel level = LogLevel::kInfo;
  std::string process;  // a short name: it is never cut
  std::string text;
};

// The record as one line with its end, of at most kLogLineBytesMax; a text that is too long is cut and ends in "...".
// Control characters are escaped, in text as \n or \xNN, and so are bytes that are no UTF-8; JSON has U+FFFD for those.
// JSON is ASCII whatever the text holds. Thread-safe.
std::string log_line(LogFormat format, const LogRecord& record);

}  // namespace ingot::services_log
