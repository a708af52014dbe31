#include "services/supervision/flag_agreement.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/limits.h"
#include "services/cli/duration.h"
#include "services/config/daemon_settings.h"
#include "services/config/limits.h"
#include "services/config/setting_text.h"

namespace ingot::inline services_supervision {

namespace {

// "HOST:0" agrees with any port of that host.
std::string address(const std::string& given, const std::string& running) {
  if (!absl::EndsWith(given, ":0")) return given;
  const std::string host(absl::StripSuffix(given, "0"));
  return absl::StartsWith(running, host) ? running : given;
}

DaemonConfig spelled_out(DaemonConfig given, const DaemonConfig& running) {
  if (given.front_end_loops == 0) given.front_end_loops = running.front_end_loops;
  if (given.quota_backend_bytes == 0) given.quota_backend_bytes = running.quota_backend_bytes;
  given.quota_backend_bytes = std::max(given.quota_backend_bytes, kNoQuota);
  if (given.voters == 0) given.voters = std::min(given.replicas, kVotersDefault);
  given.listen = address(given.listen, running.listen);
  if (given.socket == kAutomaticSocket) given.socket = running.socket;
  given.metrics_listen = address(given.metrics_listen, running.metrics_listen);
  return given;
}

absl::Status difference(const DaemonConfig& running, const char* flag, const std::string& given_text,
                        const std::string& running_text) {
  return absl::FailedPreconditionError(absl::StrCat(
      "\"", running.name, "\" runs without a supervisor, with ", flag, "=", running_text, ", not ", flag, "=",
      given_text, "; start ingotd with the flags that it runs with, or wait until it has left (--orphan-grace=",
      format_duration(std::chrono::milliseconds(running.orphan_grace_ms)), ")"));
}

}  // namespace

absl::Status flags_agree(const DaemonConfig& given, const DaemonConfig& running) {
  const DaemonConfig meant = spelled_out(given, running);
  absl::Status outcome;
  visit_settings(running, [&](const auto& setting) {
    if (!outcome.ok() || !setting.has(settings::kIdentity)) return;
    const std::string given_text = setting_text(setting, meant), running_text = setting_text(setting, running);
    if (given_text != running_text) outcome = difference(running, setting.flag, given_text, running_text);
  });
  return outcome;
}

absl::Status restore_agrees(const DaemonConfig& given, const DaemonConfig& running) {
  const auto order = [](const DaemonConfig& c) { return std::tie(c.restore, c.bump_revision, c.mark_compacted); };
  if (given.restore.empty() || order(given) == order(running)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "\"", running.name, "\" runs without a supervisor and still has its state, so --restore is refused; start ingotd "
      "without it to take that over, or wait until it has left (--orphan-grace) to begin with ", given.restore));
}

}  // namespace ingot::services_supervision
