#include "services/serving/http_answers.h"

#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

#include "services/status/status.h"

namespace ingot {

namespace {

namespace control_v1 = ::ingot::control::v1;

bool is_healthy(const control_v1::GetStatusResponse& status) {
  const auto leads = [](const control_v1::Replica& replica) {
    return replica.role() == control_v1::ROLE_LEADER && replica.state() == control_v1::STATE_UP;
  };
  return !status.has_blocked() && std::any_of(status.replicas().begin(), status.replicas().end(), leads);
}

// "3.4.0" of "3.4.23", as etcd names the version of a cluster.
std::string cluster_version(const std::string& version) { return version.substr(0, version.rfind('.')) + ".0"; }

}  // namespace

rpc::Http1Answers make_http_answers(const DaemonConfig& config, const InstanceView& view) {
  rpc::Http1Answers answers;
  answers.health = [&config, &view] {
    const bool healthy = is_healthy(read_status(config, view, unix_now_ms()));
    return rpc::Http1Answer{healthy ? 200 : 503, healthy ? R"({"health":"true"})" : R"({"health":"false"})"};
  };
  answers.version = [&config] {
    const nlohmann::ordered_json version{{"etcdserver", config.etcd_version},
                                         {"etcdcluster", cluster_version(config.etcd_version)}};
    return rpc::Http1Answer{200, version.dump()};
  };
  return answers;
}

}  // namespace ingot
