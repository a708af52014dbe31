#include "services/serving/http_answers.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "services/status/status.h"

namespace ingot::inline services_serving {

namespace {

namespace control_v1 = ::ingot::control::v1;

// What the query of a /health asks for, as etcd reads it.
struct HealthQuery {
  explicit HealthQuery(absl::string_view query) {
    for (const absl::string_view each : absl::StrSplit(query, '&')) {
      no_space_excluded = no_space_excluded || each == "exclude=NOSPACE";
      serializable = serializable || each == "serializable=true";
    }
  }
  bool no_space_excluded = false;
  bool serializable = false;  // whether reads of one replica work; else whether linearizable ones do
};

// Empty: healthy. The words are those of etcd 3.5 and later; 3.4 gives no reason.
std::string why_unhealthy(const control_v1::GetStatusResponse& status, const HealthQuery& asked) {
  const auto any = [&status](auto is) { return std::any_of(status.replicas().begin(), status.replicas().end(), is); };
  const auto up = [](const control_v1::Replica& replica) { return replica.state() == control_v1::STATE_UP; };
  const auto leads = [up](const auto& replica) { return up(replica) && replica.role() == control_v1::ROLE_LEADER; };
  if (status.store().no_space() && !asked.no_space_excluded) return "ALARM NOSPACE";
  if (asked.serializable) return any(up) ? "" : "RANGE ERROR:no replica is up";
  if (!any(leads)) return "RAFT NO LEADER";
  return status.has_blocked() ? absl::StrCat("RANGE ERROR:", status.blocked().details()) : "";
}

// "3.4.0" of "3.4.23", as etcd names the version of a cluster.
std::string cluster_version(const std::string& version) { return version.substr(0, version.rfind('.')) + ".0"; }

}  // namespace

rpc::Http1Answers make_http_answers(const DaemonConfig& config, const InstanceView& view) {
  rpc::Http1Answers answers;
  answers.health = [&config, &view](std::string_view query) {
    const HealthQuery asked(absl::string_view(query.data(), query.size()));
    const std::string why = why_unhealthy(read_status(config, view, unix_now_ms()), asked);
    if (why.empty()) return rpc::Http1Answer{200, R"({"health":"true"})"};
    const nlohmann::ordered_json unhealthy{{"health", "false"}, {"reason", why}};
    return rpc::Http1Answer{503, unhealthy.dump()};
  };
  answers.version = [&config](std::string_view) {
    const nlohmann::ordered_json version{{"etcdserver", config.etcd_version},
                                         {"etcdcluster", cluster_version(config.etcd_version)}};
    return rpc::Http1Answer{200, version.dump()};
  };
  return answers;
}

}  // namespace ingot::services_serving
