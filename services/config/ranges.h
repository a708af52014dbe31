// Settings whose range is checked when all flags are known.
#pragma once

#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "services/config/setting.h"
#include "services/config/setting_text.h"

namespace ingot::inline services_config {

// Errors: INVALID_ARGUMENT with one sentence that names the first setting out of its range. Thread-safe.
template <typename Config>
absl::Status check_ranges(const Config& config) {
  absl::Status outcome;
  visit_settings(config, [&](const auto& setting) {
    if (!outcome.ok() || setting.range.checked != settings::Checked::kAtStart) return;
    const std::string text = setting_text(setting, config);
    typename std::remove_cvref_t<decltype(setting)>::Value ignored{};
    if (parse_setting(setting.range, text, ignored).ok()) return;
    outcome = absl::InvalidArgumentError(absl::StrCat(setting.flag, "=", text, " is out of range; give ",
                                                      setting.range.min, " to ", setting.range.max));
  });
  return outcome;
}

}  // namespace ingot::services_config
