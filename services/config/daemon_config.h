// What an instance was started with. Shared by the supervisor, which checks it, and the front end, which serves it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/enum_names.h"
#include "replication/agreement/kind.h"
#include "services/config/auto_compaction_mode.h"
#include "services/config/metrics_detail.h"
#include "services/config/settings.h"
#include "services/config/view_mode.h"
#include "services/log/log_format.h"
#include "services/log/log_threshold.h"
#include "transport/transport_kind.h"

namespace ingot::inline services_config {

inline constexpr const char* kIngotVersion = "0.4.0";
// The version of etcd that clients are told, by which they know what they may ask for.
inline constexpr const char* kEtcdVersionDefault = "3.6.0";

enum class Backend : std::uint8_t { kShm, kScc };
constexpr std::array<const char*, 2> enum_names(Backend) { return {"shm", "scc"}; }

enum class Isolation : std::uint8_t {
  kProcess,
  kThread,
  kCore,  // a core of the simulated chip each; no flag selects it
};
constexpr std::array<const char*, 3> enum_names(Isolation) { return {"process", "thread", "core"}; }

struct DaemonConfig {
  INGOT_DAEMON_SETTINGS(INGOT_SETTING_MEMBER)

  // Never 0.
  std::uint64_t cluster_id = 1;  // drawn when the state begins
  std::uint64_t member_id = 1;   // derived from the name
};

// Endpoints of the front end: one for each of its loops. They follow those of the replicas.
inline int front_end_endpoints(const DaemonConfig& config) {
  return config.front_end_loops > 0 ? config.front_end_loops : 1;  // 0: not settled, as in tests
}

// Whether the fabric has an endpoint for the publisher of the instance's view. It is behind those of the front end.
inline bool has_view(const DaemonConfig& config) {
  return config.view != ViewMode::kOff && config.backend == Backend::kShm;
}
inline int view_endpoint(const DaemonConfig& config) { return config.replicas + front_end_endpoints(config); }

// Endpoints of the instance's fabric.
inline int endpoints_of(const DaemonConfig& config) { return view_endpoint(config) + (has_view(config) ? 1 : 0); }

}  // namespace ingot::services_config
