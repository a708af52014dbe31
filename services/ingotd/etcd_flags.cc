#include "services/ingotd/etcd_flags.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "services/cli/endpoint.h"
#include "services/config/setting.h"

namespace ingot::inline services_ingotd {

namespace {

// Remedies: clauses behind "has no meaning here: ".
constexpr const char* kNoFiles = "the state is in memory and has no files; leave it out";
constexpr const char* kOneMember =
    "an instance is one member, with its replicas on this machine; leave it out, or give --replicas=NUMBER";
constexpr const char* kNoPeers = "replicas share memory, and find failures by themselves; leave it out";
constexpr const char* kNoTls =
    "there is no TLS; listen on a loopback address, and let what ends TLS pass calls on to it";
constexpr const char* kNoUsers = "there are no users; leave it out, and let a firewall choose who may connect";
constexpr const char* kNoConfigFile = "there is no configuration file; give flags, or variables as in INGOT_LISTEN";
constexpr const char* kStandardError = "the log goes to standard error; leave it out, or give --log-format=json";
constexpr const char* kAlways = "it is always so; leave it out";
constexpr const char* kDigests = "ingotctl status --digest compares the replicas; leave it out";
constexpr const char* kSamePort = "HTTP is served on the address of --listen; leave it out";
constexpr const char* kNever = "Ingot does not have it; leave it out";

constexpr const char* kExperimental = "--experimental-";

EtcdFlag same(const char* name) { return {name, name, false, nullptr}; }
EtcdFlag none(const char* name, const char* remedy) { return {name, nullptr, false, remedy}; }

std::string variable_of(absl::string_view flag) {
  return "ETCD_" + absl::StrReplaceAll(absl::AsciiStrToUpper(absl::StripPrefix(flag, "--")), {{"-", "_"}});
}

// Null: it is not set, or empty.
const char* value_of(const std::string& variable) {
  const char* const value = std::getenv(variable.c_str());
  return value == nullptr || *value == '\0' ? nullptr : value;
}

absl::Status without_meaning(const std::string& given, const EtcdFlag& flag) {
  return absl::InvalidArgumentError(absl::StrCat(given, " has no meaning here: ", flag.remedy));
}

// HOST:PORT of one http:// URL. `given`: the flag or variable.
absl::StatusOr<std::string> address_in(const std::string& given, const EtcdFlag& flag, const std::string& text) {
  const auto wrong = [&](const std::string& why) {
    return absl::InvalidArgumentError(absl::StrCat(given, ": ", why));
  };
  if (absl::StrContains(text, ",")) {
    return wrong(absl::StrCat("'", text, "' names several addresses, and ", flag.ours,
                              " takes one; give one URL, with 0.0.0.0 for all addresses of this machine"));
  }
  absl::string_view address = text;
  if (absl::StartsWith(text, "unix")) return wrong("for a Unix socket give its path: --socket=PATH");
  if (absl::StartsWith(text, "https://")) return wrong(absl::StrCat("'", text, "' needs TLS: ", kNoTls));
  if (!absl::ConsumePrefix(&address, "http://")) {
    return wrong(absl::StrCat("'", text, "' is no URL; write http://HOST:PORT, as in http://127.0.0.1:2379"));
  }
  absl::ConsumeSuffix(&address, "/");
  const std::string host_port(address);
  const auto parsed = parse_host_port(host_port);
  if (!parsed.ok()) return wrong(std::string(parsed.status().message()));
  return host_port;
}

// Flags without a meaning here go by the names that they had as experimental ones, too.
const EtcdFlag* find(const std::string& name) {
  const std::string later = absl::StrReplaceAll(name, {{kExperimental, "--"}});
  const auto& all = etcd_flags();
  const auto found = std::find_if(all.begin(), all.end(), [&](const EtcdFlag& each) {
    return each.name == name || (each.ours == nullptr && each.name == later);
  });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

const std::vector<EtcdFlag>& etcd_flags() {
  static const std::vector<EtcdFlag> all{
      same("--name"),
      same("--advertise-client-urls"),
      same("--auto-compaction-mode"),
      same("--auto-compaction-retention"),
      same("--log-level"),
      same("--log-format"),
      same("--max-concurrent-streams"),
      same("--max-request-bytes"),
      same("--max-txn-ops"),
      same("--metrics"),
      same("--quota-backend-bytes"),
      same("--watch-progress-notify-interval"),
      {"--experimental-watch-progress-notify-interval", "--watch-progress-notify-interval", false, nullptr},
      {"--listen-client-urls", "--listen", true, nullptr},
      {"--listen-metrics-urls", "--metrics-listen", true, nullptr},
      none("--data-dir", kNoFiles),
      none("--wal-dir", kNoFiles),
      none("--snapshot-count", kNoFiles),
      none("--max-snapshots", kNoFiles),
      none("--max-wals", kNoFiles),
      none("--unsafe-no-fsync", kNoFiles),
      none("--backend-batch-interval", kNoFiles),
      none("--backend-batch-limit", kNoFiles),
      none("--backend-bbolt-freelist-type", kNoFiles),
      none("--force-new-cluster", kNoFiles),
      none("--snapshot-catchup-entries", kNoFiles),
      none("--snapshot-catch-up-entries", kNoFiles),
      none("--bootstrap-defrag-threshold-megabytes", kNoFiles),
      none("--compaction-batch-limit", kNoFiles),
      none("--compaction-sleep-interval", kNoFiles),
      none("--stop-grpc-service-on-defrag", kNoFiles),
      none("--memory-mlock", kNoFiles),
      none("--txn-mode-write-with-shared-buffer", kNoFiles),
      none("--v2-deprecation", kNoFiles),
      none("--initial-cluster", kOneMember),
      none("--initial-cluster-state", kOneMember),
      none("--initial-cluster-token", kOneMember),
      none("--initial-advertise-peer-urls", kOneMember),
      none("--listen-peer-urls", kOneMember),
      none("--discovery", kOneMember),
      none("--discovery-fallback", kOneMember),
      none("--discovery-proxy", kOneMember),
      none("--discovery-srv", kOneMember),
      none("--discovery-srv-name", kOneMember),
      none("--discovery-endpoints", kOneMember),
      none("--discovery-token", kOneMember),
      none("--discovery-user", kOneMember),
      none("--discovery-password", kOneMember),
      none("--discovery-cert", kOneMember),
      none("--discovery-key", kOneMember),
      none("--discovery-cacert", kOneMember),
      none("--discovery-dial-timeout", kOneMember),
      none("--discovery-request-timeout", kOneMember),
      none("--discovery-keepalive-time", kOneMember),
      none("--discovery-keepalive-timeout", kOneMember),
      none("--discovery-insecure-transport", kOneMember),
      none("--discovery-insecure-skip-tls-verify", kOneMember),
      none("--proxy", kOneMember),
      none("--proxy-dial-timeout", kOneMember),
      none("--proxy-failure-wait", kOneMember),
      none("--proxy-read-timeout", kOneMember),
      none("--proxy-refresh-interval", kOneMember),
      none("--proxy-write-timeout", kOneMember),
      none("--strict-reconfig-check", kOneMember),
      none("--max-learners", kOneMember),
      none("--downgrade-check-time", kOneMember),
      none("--heartbeat-interval", kNoPeers),
      none("--election-timeout", kNoPeers),
      none("--initial-election-tick-advance", kNoPeers),
      none("--pre-vote", kNoPeers),
      none("--raft-read-timeout", kNoPeers),
      none("--raft-write-timeout", kNoPeers),
      none("--initial-corrupt-check", kDigests),
      none("--corrupt-check-time", kDigests),
      none("--compact-hash-check-enabled", kDigests),
      none("--compact-hash-check-time", kDigests),
      none("--cert-file", kNoTls),
      none("--key-file", kNoTls),
      none("--client-cert-auth", kNoTls),
      none("--client-cert-allowed-hostname", kNoTls),
      none("--client-crl-file", kNoTls),
      none("--client-cert-file", kNoTls),
      none("--client-key-file", kNoTls),
      none("--trusted-ca-file", kNoTls),
      none("--auto-tls", kNoTls),
      none("--cipher-suites", kNoTls),
      none("--tls-min-version", kNoTls),
      none("--tls-max-version", kNoTls),
      none("--peer-cert-file", kNoTls),
      none("--peer-key-file", kNoTls),
      none("--peer-client-cert-auth", kNoTls),
      none("--peer-trusted-ca-file", kNoTls),
      none("--peer-auto-tls", kNoTls),
      none("--peer-client-cert-file", kNoTls),
      none("--peer-client-key-file", kNoTls),
      none("--peer-cert-allowed-cn", kNoTls),
      none("--peer-cert-allowed-hostname", kNoTls),
      none("--peer-crl-file", kNoTls),
      none("--peer-skip-client-san-verification", kNoTls),
      none("--self-signed-cert-validity", kNoTls),
      none("--auth-token", kNoUsers),
      none("--auth-token-ttl", kNoUsers),
      none("--bcrypt-cost", kNoUsers),
      none("--config-file", kNoConfigFile),
      none("--logger", kStandardError),
      none("--log-outputs", kStandardError),
      none("--log-package-levels", kStandardError),
      none("--enable-log-rotation", kStandardError),
      none("--log-rotation-config-json", kStandardError),
      none("--debug", kStandardError),
      none("--enable-grpc-gateway", kAlways),
      none("--listen-client-http-urls", kSamePort),
      none("--enable-v2", kNever),
      none("--enable-v2v3", kNever),
      none("--enable-pprof", kNever),
      none("--cors", kNever),
      none("--host-whitelist", kNever),
      none("--grpc-keepalive-min-time", kNever),
      none("--grpc-keepalive-interval", kNever),
      none("--grpc-keepalive-timeout", kNever),
      none("--socket-reuse-port", kNever),
      none("--socket-reuse-address", kNever),
      none("--enable-lease-checkpoint", kNever),
      none("--enable-lease-checkpoint-persist", kNever),
      none("--warning-apply-duration", kNever),
      none("--warning-unary-request-duration", kNever),
      none("--enable-distributed-tracing", kNever),
      none("--distributed-tracing-address", kNever),
      none("--distributed-tracing-service-name", kNever),
      none("--distributed-tracing-instance-id", kNever),
      none("--distributed-tracing-sampling-rate", kNever),
      none("--feature-gates", kNever),
  };
  return all;
}

absl::Status translate_etcd_flags(std::vector<std::string>& words) {
  for (std::size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    if (!absl::StartsWith(words[i], "--")) continue;
    const std::size_t equals = words[i].find('=');
    const std::string given = words[i].substr(0, equals);
    const EtcdFlag* flag = find(given);
    if (flag == nullptr) continue;
    if (flag->ours == nullptr) return without_meaning(given, *flag);
    const bool without_value = equals == std::string::npos && i + 1 == words.size();
    if (flag->url && !without_value) {
      std::string& text = equals == std::string::npos ? words[i + 1] : words[i];
      const std::size_t begin = equals == std::string::npos ? 0 : equals + 1;
      const auto address = address_in(given, *flag, text.substr(begin));
      if (!address.ok()) return address.status();
      text.replace(begin, std::string::npos, *address);
    }
    words[i].replace(0, given.size(), flag->ours);
  }
  return absl::OkStatus();
}

absl::Status translate_etcd_variables() {
  for (const EtcdFlag& flag : etcd_flags()) {
    const std::string name = variable_of(flag.name);
    if (flag.ours == nullptr) {
      const std::string experimental = variable_of(absl::StrReplaceAll(flag.name, {{"--", kExperimental}}));
      if (value_of(name) != nullptr) return without_meaning(name, flag);
      if (value_of(experimental) != nullptr) return without_meaning(experimental, flag);
      continue;
    }
    const char* const value = value_of(name);
    if (value == nullptr) continue;
    std::string text = value;
    if (flag.url) {
      const auto address = address_in(name, flag, text);
      if (!address.ok()) return address.status();
      text = *address;
    }
    ::setenv(environment_name(flag.ours).c_str(), text.c_str(), /*overwrite=*/0);
  }
  return absl::OkStatus();
}

}  // namespace ingot::services_ingotd
