// What the gRPC port answers to HTTP/1.1, as etcd does.
#pragma once

#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"
#include "services/rpc/server/server.h"

namespace ingot::inline services_serving {

// GET /health: {"health":"true"}, or with status 503 {"health":"false","reason":WHY} while the NOSPACE alarm stands, no
// replica leads or agreement is blocked. As in etcd, the query may leave out the alarm (exclude=NOSPACE), and what only
// linearizable reads need (serializable=true).
// GET /version: the etcd version that clients are told. Both outlive the answers, which are thread-safe.
rpc::Http1Answers make_http_answers(const DaemonConfig& config, const InstanceView& view);

}  // namespace ingot::services_serving
