// The types of a row in the table of settings (services/config/settings.h).
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace ingot::inline services_config {

namespace settings {

// Where a setting is used besides its flag and the launch document: a sum of these bits.
using Uses = unsigned;
inline constexpr Uses kNone = 0;
inline constexpr Uses kIdentity = 1;   // an instance keeps it: a new supervisor attaches only with the same value
inline constexpr Uses kRecorded = 2;   // the head of a recording holds it, and a replay runs with it
inline constexpr Uses kStatus = 4;     // the control API's Instance has a field of that name
inline constexpr Uses kLabel = 8;      // a label of the metric ingot_build_info
inline constexpr Uses kHostOnly = 16;  // the simulated chip refuses it
inline constexpr Uses kFlagOnly = 32;  // no environment variable: it is for one run
inline constexpr Uses kRecordedLater = 64;  // with kRecorded: heads of older recordings lack it, and mean the default

// Where a value out of range is refused: by the code that uses the setting, on the command line, or by check_ranges
// (services/config/ranges.h) once all settings are known.
enum class Checked { kByUse, kByFlag, kAtStart };

// Which values a setting takes.
struct Range {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();  // of numbers, both included
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
  // Texts only: returns what is wrong with `text` as a sentence, or an empty string. Null: every text is valid.
  std::string (*fault)(const std::string& text) = nullptr;
  Checked checked = Checked::kByUse;
  bool duration = false;  // a number of milliseconds, written as a duration
  bool bytes = false;     // a number of bytes: another unit is refused with the right number
  std::size_t choices_max = std::numeric_limits<std::size_t>::max();  // of an enumeration: only its first values
  const char* form = nullptr;         // how a value is written, for people
  const char* placeholder = nullptr;  // in --help, instead of the type

  // Every value of the type.
  constexpr Range unbounded() const { return {.duration = duration}; }
};

constexpr Range any() { return {}; }

// Numbers.
constexpr Range within(std::int64_t min, std::int64_t max) { return {.min = min, .max = max}; }
constexpr Range between(std::int64_t min, std::int64_t max) {
  return {.min = min, .max = max, .checked = Checked::kAtStart};
}

constexpr Range number(std::int64_t min, std::int64_t max, const char* placeholder) {
  return {.min = min, .max = max, .checked = Checked::kByFlag, .placeholder = placeholder};
}

constexpr Range written(const char* placeholder) { return {.form = placeholder, .placeholder = placeholder}; }

// A text that is checked where it is used; `form` is for docs/configuration.md.
constexpr Range text_like(const char* form) { return {.form = form}; }

constexpr Range duration() {
  return {.min = 0, .checked = Checked::kByFlag, .duration = true, .placeholder = "DURATION"};
}

constexpr Range bytes(std::int64_t min, std::int64_t max) {
  return {
      .min = min, .max = max, .checked = Checked::kByFlag, .bytes = true, .form = "BYTES", .placeholder = "BYTES"};
}

// The first values of an enumeration; the others are set by the program itself.
constexpr Range first(std::size_t choices) { return {.choices_max = choices}; }

// "HOST:PORT".
Range address();

// Texts without a fault of services/config/text_faults.h.
Range instance_name();
Range version();
Range client_urls();
Range socket_path();
Range socket_mode();

}  // namespace settings

// One setting: a member of Config with its names, default, range and uses.
template <typename Config, typename T>
struct Setting {
  using Value = T;

  T Config::*member;
  const char* key;   // the member's name: in the launch document, in a recording and in the control API
  const char* flag;  // with its dashes
  T initial;         // the default
  settings::Range range;
  settings::Uses uses;
  std::string help;

  bool has(settings::Uses use) const { return (uses & use) != 0; }
};

// "INGOT_ORPHAN_GRACE" for "--orphan-grace".
std::string environment_name(const std::string& flag);

}  // namespace ingot::services_config
