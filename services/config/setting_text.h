// The values of settings as texts: the same text in a flag, in the launch document and in a message for people.
// All of it is thread-safe.
//
//   bool                 on | off                  enumeration     its name
//   number               decimal                   duration        as services/cli/duration.h writes it
//   list of numbers      decimal, with commas      text            itself
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/enum_names.h"
#include "services/cli/words.h"
#include "services/config/setting.h"

namespace ingot::inline services_config {

std::string setting_text(const settings::Range& range, bool value);
std::string setting_text(const settings::Range& range, int value);
std::string setting_text(const settings::Range& range, std::int64_t value);
std::string setting_text(const settings::Range& range, std::uint64_t value);
std::string setting_text(const settings::Range& range, const std::string& value);
std::string setting_text(const settings::Range& range, const std::vector<int>& value);
template <NamedEnum Enum>
std::string setting_text(const settings::Range&, Enum value) {
  return name_of(value);
}

template <typename Config, typename T>
std::string setting_text(const Setting<Config, T>& setting, const Config& config) {
  return setting_text(setting.range, config.*setting.member);
}

// Errors: INVALID_ARGUMENT with one sentence: the text is no such value, or the value is out of range; `value` is
// unchanged then.
absl::Status parse_setting(const settings::Range& range, const std::string& text, bool& value);
absl::Status parse_setting(const settings::Range& range, const std::string& text, int& value);
absl::Status parse_setting(const settings::Range& range, const std::string& text, std::int64_t& value);
absl::Status parse_setting(const settings::Range& range, const std::string& text, std::uint64_t& value);
absl::Status parse_setting(const settings::Range& range, const std::string& text, std::string& value);
absl::Status parse_setting(const settings::Range& range, const std::string& text, std::vector<int>& value);

// The names of an enumeration that its setting takes.
template <NamedEnum Enum>
std::vector<std::string> choice_names(const settings::Range& range) {
  const auto names = enum_names(Enum{});
  return {names.begin(), names.begin() + std::min(names.size(), range.choices_max)};
}

template <NamedEnum Enum>
absl::Status parse_setting(const settings::Range& range, const std::string& text, Enum& value) {
  const std::string fault = fault_in_choice(text, choice_names<Enum>(range));
  if (!fault.empty()) return absl::InvalidArgumentError(fault);
  value = *value_of<Enum>(text);
  return absl::OkStatus();
}

template <typename Config, typename T>
absl::Status parse_setting(const Setting<Config, T>& setting, const std::string& text, Config& config) {
  return parse_setting(setting.range, text, config.*setting.member);
}

// The default as --help and docs/configuration.md show it. Empty if it is out of range, which stands for "not given".
template <typename Config, typename T>
std::string default_text(const Setting<Config, T>& setting) {
  T ignored{};
  const std::string text = setting_text(setting.range, setting.initial);
  return parse_setting(setting.range, text, ignored).ok() ? text : "";
}

// "process or thread".
template <NamedEnum Enum>
std::string choices_of(const settings::Range& range) {
  return join_or(choice_names<Enum>(range));
}

}  // namespace ingot::services_config
