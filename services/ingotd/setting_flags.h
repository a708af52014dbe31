// A flag for each setting of a configuration.
#pragma once

#include <cstdlib>
#include <string>
#include <type_traits>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "services/config/setting.h"
#include "services/config/setting_text.h"

namespace ingot::inline services_ingotd {

// A validator that applies the same check as the launch document.
template <typename Config, typename T>
CLI::Validator check_of(const Setting<Config, T>& setting, const std::string& description) {
  const auto check = [range = setting.range](const std::string& text) {
    T ignored{};
    return std::string(parse_setting(range, text, ignored).message());
  };
  return CLI::Validator(check, description);
}

template <typename Config, typename T>
CLI::Option* add_setting(CLI::App& app, const Setting<Config, T>& setting, Config& config) {
  T& value = config.*setting.member;
  if constexpr (std::is_same_v<T, bool>) {
    return app.add_flag(setting.flag, value, setting.help);
  } else if constexpr (NamedEnum<T> || std::is_same_v<T, std::int64_t>) {
    const auto store = [range = setting.range, &value](const std::string& text) {
      return parse_setting(range, text, value).ok();
    };
    CLI::Option* option = app.add_option_function<std::string>(setting.flag, store, setting.help);
    std::string description;
    if constexpr (NamedEnum<T>) description = absl::StrJoin(choice_names<T>(setting.range), "|");
    return option->check(check_of(setting, description));
  } else {
    CLI::Option* option = app.add_option(setting.flag, value, setting.help);
    if constexpr (std::is_same_v<T, std::vector<int>>) option->delimiter(',');
    if (setting.range.checked != settings::Checked::kByFlag) return option;
    const bool described = setting.range.form != nullptr && setting.range.placeholder == nullptr;
    return option->check(check_of(setting, described ? setting.range.form : ""));
  }
}

// Every setting with its default, its check and its environment variable. Flags win over the environment. CLI11 reads
// variables that are not empty; apply_empty_variables() does the rest. `config` must outlive the parse.
template <typename Config>
void add_settings(CLI::App& app, Config& config, const std::string& group = "Options") {
  visit_settings(config, [&](const auto& setting) {
    config.*setting.member = setting.initial;
    CLI::Option* option = add_setting(app, setting, config);
    option->group(group);
    if (!setting.has(settings::kFlagOnly)) option->envname(environment_name(setting.flag));
    if (setting.range.placeholder != nullptr) option->type_name(setting.range.placeholder);
    using Value = typename std::remove_cvref_t<decltype(setting)>::Value;
    if (!std::is_same_v<Value, bool>) option->default_str(default_text(setting));
  });
}

// To be called after the parse: gives each setting whose variable is set to the empty text, and whose flag is not
// given, that value. Errors: INVALID_ARGUMENT with one sentence that names the variable whose setting does not take it.
template <typename Config>
absl::Status apply_empty_variables(const CLI::App& app, Config& config) {
  absl::Status outcome;
  visit_settings(config, [&](const auto& setting) {
    if (!outcome.ok() || setting.has(settings::kFlagOnly) || app.get_option(setting.flag)->count() > 0) return;
    const std::string name = environment_name(setting.flag);
    const char* value = std::getenv(name.c_str());
    if (value == nullptr || *value != '\0') return;
    const absl::Status status = parse_setting(setting, "", config);
    if (!status.ok()) outcome = absl::InvalidArgumentError(absl::StrCat(name, ": ", status.message()));
  });
  return outcome;
}

}  // namespace ingot::services_ingotd
