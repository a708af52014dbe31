#include "services/config/config_message.h"

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace ingot {

namespace {

constexpr auto kSettings = std::make_tuple(
    std::pair("name", &DaemonConfig::name), std::pair("listen", &DaemonConfig::listen),
    std::pair("metrics_listen", &DaemonConfig::metrics_listen), std::pair("agreement", &DaemonConfig::agreement),
    std::pair("transport", &DaemonConfig::transport), std::pair("backend", &DaemonConfig::backend),
    std::pair("isolation", &DaemonConfig::isolation), std::pair("fence", &DaemonConfig::fence),
    std::pair("etcd_version", &DaemonConfig::etcd_version), std::pair("tree", &DaemonConfig::tree),
    std::pair("machine", &DaemonConfig::machine), std::pair("replicas", &DaemonConfig::replicas),
    std::pair("voters", &DaemonConfig::voters), std::pair("orphan_grace_ms", &DaemonConfig::orphan_grace_ms));

template <typename Visit>
void for_each_setting(Visit&& visit) {
  std::apply([&](const auto&... setting) { (visit(setting.first, setting.second), ...); }, kSettings);
}

template <typename T>
std::string write(const T& value) {
  if constexpr (std::is_same_v<T, bool>) return value ? "true" : "false";
  else return absl::StrCat(value);
}

template <typename T>
bool read(const std::string& text, T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    value = text;
    return true;
  } else if constexpr (std::is_same_v<T, bool>) {
    value = text == "true";
    return value || text == "false";
  } else {
    return absl::SimpleAtoi(text, &value);
  }
}

absl::Status refused(const char* name, const char* why) {
  return absl::InvalidArgumentError(absl::StrCat("the setting ", name, " ", why));
}

}  // namespace

config_v1::Config to_message(const DaemonConfig& config) {
  config_v1::Config message;
  for_each_setting([&](const char* name, auto member) {
    config_v1::Setting& setting = *message.add_settings();
    setting.set_name(name);
    setting.set_value(write(config.*member));
  });
  message.set_cluster_id(config.cluster_id);
  message.set_member_id(config.member_id);
  return message;
}

absl::StatusOr<DaemonConfig> from_message(const config_v1::Config& message) {
  DaemonConfig config;
  absl::Status status;
  int found = 0;
  for_each_setting([&](const char* name, auto member) {
    const std::string* value = nullptr;
    for (const config_v1::Setting& setting : message.settings()) {
      if (setting.name() != name) continue;
      if (value != nullptr) status.Update(refused(name, "is there twice"));
      value = &setting.value();
      ++found;
    }
    if (value == nullptr) status.Update(refused(name, "is missing"));
    else if (!read(*value, config.*member)) status.Update(refused(name, "is malformed"));
  });
  if (found != message.settings_size()) status.Update(absl::InvalidArgumentError("a setting is unknown"));
  config.cluster_id = message.cluster_id();
  config.member_id = message.member_id();
  if (!status.ok()) return status;
  return config;
}

}  // namespace ingot
