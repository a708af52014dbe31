// Turns the pages of an instance into the control plane's status. Thread-safe: reads Counters only.
#pragma once

#include <cstdint>
#include <string>

#include "proto/ingot/control/v1/control.pb.h"
#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"

namespace ingot {

namespace control_v1 = ::ingot::control::v1;

// The status at `now_unix_ms`, up to which uptime is counted.
control_v1::GetStatusResponse read_status(const DaemonConfig& config, const InstanceView& view,
                                          std::int64_t now_unix_ms);

// The state of one process. A process is up only once the page of its current incarnation says that it is ready; the
// page of an earlier incarnation does not count.
control_v1::State state_of(const ProcessEntry& entry, std::uint64_t ready_incarnation);

// Equal for two statuses that differ only in progress: slots, lag, digests, uptime and blocked duration.
std::string fingerprint(const control_v1::GetStatusResponse& status);

// Equal for two statuses that differ only in uptime.
std::string progress_fingerprint(const control_v1::GetStatusResponse& status);

// Wall-clock time since the Unix epoch.
std::int64_t unix_now_ms();

}  // namespace ingot
