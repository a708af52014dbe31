// What the gRPC port and the metrics port answer to GET over HTTP/1.1, as etcd does.
#pragma once

#include <functional>
#include <string>

#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"
#include "services/rpc/server/http1.h"

namespace ingot::inline services_serving {

// /health           {"health":"true","reason":""}, or with status 503 {"health":"false","reason":WHY} while the NOSPACE
//                   alarm stands, no replica leads or agreement is blocked. As in etcd, the query may leave out the
//                   alarm (exclude=NOSPACE), and what only linearizable reads need (serializable=true).
// /livez, /readyz   "ok", or with status 503 a line for each of its checks. The query may leave out checks
//                   (exclude=NAME) and ask for the lines of a success (verbose).
// /livez/NAME, /readyz/NAME   one check
// /version          the etcd version that clients are told
//
// Both outlive the answers, which are thread-safe.
rpc::Http1Answers make_http_answers(const DaemonConfig& config, const InstanceView& view);

}  // namespace ingot::services_serving
