// What follows from the version of etcd that clients are told (--etcd-version).
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "services/config/daemon_config.h"

namespace ingot::inline services_config {

// "3.6.0" of "3.6.7", as etcd names the version of a cluster and of what it stores. All members have it here.
inline std::string etcd_cluster_version(const DaemonConfig& config) {
  return config.etcd_version.substr(0, config.etcd_version.rfind('.')) + ".0";
}

// Whether clients are told at least this version. REQUIRES: config.etcd_version has no fault (text_faults.h).
inline bool etcd_version_at_least(const DaemonConfig& config, int major, int minor) {
  const std::vector<std::string> parts = absl::StrSplit(config.etcd_version, '.');
  int has_major = 0, has_minor = 0;
  if (parts.size() < 2 || !absl::SimpleAtoi(parts[0], &has_major) || !absl::SimpleAtoi(parts[1], &has_minor)) {
    return false;
  }
  return std::tuple(has_major, has_minor) >= std::tuple(major, minor);
}

}  // namespace ingot::services_config
