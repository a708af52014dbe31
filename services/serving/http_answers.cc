#include "services/serving/http_answers.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "services/config/etcd_version.h"
#include "services/status/status.h"

namespace ingot::inline services_serving {

namespace {

namespace control_v1 = ::ingot::control::v1;
using control_v1::GetStatusResponse;

constexpr const char* kPlainText = "text/plain; charset=utf-8";

// What a query asks for, as etcd reads it.
struct Query {
  explicit Query(std::string_view text) {
    for (absl::string_view each : absl::StrSplit(absl::string_view(text.data(), text.size()), '&')) {
      if (absl::ConsumePrefix(&each, "exclude=")) excluded.emplace(each);
      serializable = serializable || each == "serializable=true";
      verbose = verbose || each.substr(0, each.find('=')) == "verbose";
    }
  }
  std::set<std::string> excluded;
  bool serializable = false;  // whether reads of one replica work; else whether linearizable ones do
  bool verbose = false;
};

template <typename Is>
bool any_replica(const GetStatusResponse& status, Is is) {
  return std::any_of(status.replicas().begin(), status.replicas().end(), is);
}

// Empty: such reads work.
std::string why_no_serializable_read(const GetStatusResponse& status) {
  return any_replica(status, is_up) ? "" : "no replica is up";
}
std::string why_no_linearizable_read(const GetStatusResponse& status) {
  if (!any_replica(status, leads)) return "etcdserver: no leader";
  return status.has_blocked() ? status.blocked().details() : "";
}

// Empty: healthy. The words are those of etcd 3.5 and later; 3.4 gives no reason.
std::string why_unhealthy(const GetStatusResponse& status, const Query& asked) {
  if (status.store().no_space() && !asked.excluded.contains("NOSPACE")) return "ALARM NOSPACE";
  if (!asked.serializable && !any_replica(status, leads)) return "RAFT NO LEADER";
  const std::string why = asked.serializable ? why_no_serializable_read(status) : why_no_linearizable_read(status);
  return why.empty() ? "" : absl::StrCat("RANGE ERROR:", why);
}

rpc::Http1Answer health(const GetStatusResponse& status, std::string_view query) {
  const std::string why = why_unhealthy(status, Query(query));
  const nlohmann::ordered_json body{{"health", why.empty() ? "true" : "false"}, {"reason", why}};
  return {why.empty() ? 200 : 503, body.dump()};
}

struct Check {
  const char* name;
  std::string (*fault)(const GetStatusResponse& status);  // empty: none
};

// Of a state that no replica has in common with others there is no alarm, and the one member is no learner.
std::string no_fault(const GetStatusResponse&) { return ""; }

const std::vector<Check> kLiveness{{"serializable_read", why_no_serializable_read}};
const std::vector<Check> kReadiness{
    {"data_corruption", no_fault},
    {"serializable_read", why_no_serializable_read},
    {"linearizable_read", why_no_linearizable_read},
    {"non_learner", no_fault},
};

rpc::Http1Answer run_checks(const std::vector<Check>& checks, const GetStatusResponse& status,
                            std::string_view query) {
  const Query asked(query);
  std::string lines;
  bool well = true;
  for (const Check& check : checks) {
    if (asked.excluded.contains(check.name)) continue;
    const std::string fault = check.fault(status);
    well = well && fault.empty();
    if (fault.empty()) absl::StrAppend(&lines, "[+]", check.name, " ok\n");
    else absl::StrAppend(&lines, "[-]", check.name, " failed: ", fault, "\n");
  }
  if (!well) return {503, lines + "\n", kPlainText};
  return {200, absl::StrCat(asked.verbose ? lines : "", "ok\n"), kPlainText};
}

rpc::Http1Answer version(const DaemonConfig& config) {
  nlohmann::ordered_json versions{{"etcdserver", config.etcd_version}, {"etcdcluster", etcd_cluster_version(config)}};
  if (etcd_version_at_least(config, 3, 6)) versions["storage"] = etcd_cluster_version(config);
  return {200, versions.dump()};
}

}  // namespace

rpc::Http1Answers make_http_answers(const DaemonConfig& config, const InstanceView& view) {
  rpc::Http1Answers answers;
  const auto status = [&config, &view] { return read_status(config, view, unix_now_ms()); };
  answers["/health"] = [status](std::string_view query) { return health(status(), query); };
  answers["/version"] = [&config](std::string_view) { return version(config); };
  for (const auto& [path, checks] : {std::pair("/livez", &kLiveness), std::pair("/readyz", &kReadiness)}) {
    answers[path] = [status, checks = checks](std::string_view query) { return run_checks(*checks, status(), query); };
    for (const Check& check : *checks) {
      answers[absl::StrCat(path, "/", check.name)] = [status, one = std::vector<Check>{check}](std::string_view query) {
        return run_checks(one, status(), Query(query).verbose ? "verbose" : "");  // it cannot be excluded
      };
    }
  }
  return answers;
}

}  // namespace ingot::services_serving
