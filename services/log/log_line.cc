#include "services/log/log_line.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "core/enum_names.h"
#include "services/cli/utf8.h"
#include "services/log/limits.h"

namespace ingot::inline services_log {

namespace {

const std::string kCut = "...";

std::string time_text(absl::Time time) { return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone()); }

// A line break within a text would make two lines of one; other control characters would move a terminal's cursor, and
// a terminal may take bytes that are no UTF-8 for some.
std::string without_controls(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    if (character == "\n") {
      out += "\\n";
    } else {
      out += length == 0 || is_control(character) ? hex_escaped(character) : std::string(character);
    }
    text.remove_prefix(character.size());
  }
  return out;
}

std::string written(LogFormat format, const LogRecord& record, const std::string& text) {
  const std::string time = time_text(record.time);
  if (format == LogFormat::kText) {
    return absl::StrCat(time, " ", name_of(record.level), " ", record.process, ": ", without_controls(text), "\n");
  }
  const nlohmann::ordered_json line{
      {"time", time}, {"level", name_of(record.level)}, {"process", record.process}, {"message", text}};
  // Bytes that are no UTF-8 become U+FFFD (the default is an exception); all but ASCII is escaped, so that a terminal
  // may show the line.
  return line.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

// The number of those of the first `bytes` bytes that are no part of a character that goes on behind them.
std::size_t without_part(std::string_view text, std::size_t bytes) {
  for (std::size_t begin = bytes; begin > 0 && bytes - begin < 3;) {
    --begin;
    if (begin + utf8_length(text.substr(begin)) > bytes) return begin;
  }
  return bytes;
}

}  // namespace

std::string log_line(LogFormat format, const LogRecord& record) {
  const std::string line = written(format, record, record.text);
  if (line.size() <= kLogLineBytesMax) return line;
  const auto beginning = [&](std::size_t bytes) {
    return written(format, record, record.text.substr(0, bytes) + kCut);
  };
  // How long a text becomes by escaping depends on its bytes, so the longest beginning that fits is searched for.
  std::size_t fits = 0, too_long = std::min(record.text.size(), kLogLineBytesMax);
  while (too_long - fits > 1) {
    const std::size_t middle = fits + (too_long - fits) / 2;
    (beginning(middle).size() <= kLogLineBytesMax ? fits : too_long) = middle;
  }
  return beginning(without_part(record.text, fits));
}

}  // namespace ingot::services_log
