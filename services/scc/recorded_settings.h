// The settings in a recording's head: those that determine the run, each under its key and with the JSON type
// of its value; an enumeration by its name.
#pragma once

#include <stdexcept>
#include <string>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "core/enum_names.h"
#include "services/config/setting.h"
#include "services/config/setting_text.h"

namespace ingot::inline services_scc {

inline constexpr const char* kWrongRecordedSettings = "its flags are none that ingotd takes";

template <typename Config>
void put_settings(const Config& config, nlohmann::ordered_json& head) {
  visit_settings(config, [&](const auto& setting) {
    if (!setting.has(settings::kRecorded)) return;
    const auto& value = config.*setting.member;
    if constexpr (NamedEnum<std::remove_cvref_t<decltype(value)>>) {
      head[setting.key] = name_of(value);
    } else {
      head[setting.key] = value;
    }
  });
}

// A value that the setting's flag refuses is refused here, except a default that stands for "none given".
template <typename T>
T recorded_value(const nlohmann::ordered_json& json, const settings::Range& range, const T& initial) {
  T checked{};
  if constexpr (NamedEnum<T>) {
    if (parse_setting(range, json.get<std::string>(), checked).ok()) return checked;
  } else {
    const T value = json.get<T>();
    if (value == initial || parse_setting(range, setting_text(range, value), checked).ok()) return value;
  }
  throw std::invalid_argument(kWrongRecordedSettings);
}

// Throws nlohmann's exceptions for a key that is missing or of another type, std::invalid_argument for a wrong value.
template <typename Config>
void get_settings(const nlohmann::ordered_json& head, Config& config) {
  visit_settings(config, [&](const auto& setting) {
    if (!setting.has(settings::kRecorded)) return;
    if (setting.has(settings::kRecordedLater) && !head.contains(setting.key)) return;
    config.*setting.member = recorded_value(head.at(setting.key), setting.range, setting.initial);
  });
}

}  // namespace ingot::services_scc
