#include "services/supervision/flag_agreement.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/limits.h"
#include "services/cli/duration.h"

namespace ingot {

namespace {

struct Flag {
  const char* name;
  std::string given, running;
};

std::string duration(std::int64_t ms) { return format_duration(std::chrono::milliseconds(ms)); }

// "HOST:0" is every port of that host.
std::string address(const std::string& given, const std::string& running) {
  if (!absl::EndsWith(given, ":0")) return given;
  const std::string host(absl::StripSuffix(given, "0"));
  return absl::StartsWith(running, host) ? running : given;
}

std::vector<Flag> flags(const DaemonConfig& given, const DaemonConfig& running) {
  const int voters = given.voters == 0 ? std::min(given.replicas, kVotersDefault) : given.voters;
  return {
      {"--replicas", std::to_string(given.replicas), std::to_string(running.replicas)},
      {"--voters", std::to_string(voters), std::to_string(running.voters)},
      {"--agreement", given.agreement, running.agreement},
      {"--transport", given.transport, running.transport},
      {"--backend", given.backend, running.backend},
      {"--isolation", given.isolation, running.isolation},
      {"--fence", given.fence ? "on" : "off", running.fence ? "on" : "off"},
      {"--tree", given.tree, running.tree},
      {"--machine", given.machine, running.machine},
      {"--listen", address(given.listen, running.listen), running.listen},
      {"--metrics-listen", address(given.metrics_listen, running.metrics_listen), running.metrics_listen},
      {"--etcd-version", given.etcd_version, running.etcd_version},
      {"--orphan-grace", duration(given.orphan_grace_ms), duration(running.orphan_grace_ms)},
  };
}

}  // namespace

absl::Status flags_agree(const DaemonConfig& given, const DaemonConfig& running) {
  for (const Flag& flag : flags(given, running)) {
    if (flag.given == flag.running) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "\"", running.name, "\" runs without a supervisor, with ", flag.name, "=", flag.running, ", not ", flag.name, "=",
        flag.given, "; start ingotd with the flags that it runs with, or wait until it has left (--orphan-grace=",
        duration(running.orphan_grace_ms), ")"));
  }
  return absl::OkStatus();
}

}  // namespace ingot
