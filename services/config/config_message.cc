#include "services/config/config_message.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "services/config/daemon_settings.h"
#include "services/config/setting_text.h"

namespace ingot::inline services_config {

config_v1::Config to_message(const DaemonConfig& config) {
  config_v1::Config message;
  visit_settings(config, [&](const auto& setting) {
    config_v1::Setting& entry = *message.add_settings();
    entry.set_name(setting.key);
    entry.set_value(setting_text(setting, config));
  });
  message.set_cluster_id(config.cluster_id);
  message.set_member_id(config.member_id);
  return message;
}

absl::StatusOr<DaemonConfig> from_message(const config_v1::Config& message) {
  std::map<std::string, std::string> values;
  for (const config_v1::Setting& entry : message.settings()) {
    if (!values.emplace(entry.name(), entry.value()).second) {
      return absl::InvalidArgumentError(absl::StrCat("the setting ", entry.name(), " is given twice"));
    }
  }
  DaemonConfig config;
  absl::Status outcome;
  visit_settings(config, [&](const auto& setting) {
    const auto value = values.extract(setting.key);
    const absl::Status status =
        value.empty() ? absl::InvalidArgumentError("is missing")
                      : parse_setting(setting.range.unbounded(), value.mapped(), config.*setting.member);
    if (!status.ok()) outcome = absl::InvalidArgumentError(absl::StrCat(setting.key, ": ", status.message()));
  });
  if (!outcome.ok()) return outcome;
  if (!values.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("the setting ", values.begin()->first, " is unknown here"));
  }
  config.cluster_id = message.cluster_id();
  config.member_id = message.member_id();
  if (config.cluster_id == 0 || config.member_id == 0) {
    return absl::InvalidArgumentError("the numbers of cluster and member are never 0");
  }
  return config;
}

}  // namespace ingot::services_config
