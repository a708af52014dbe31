// Turns the pages of an instance into the control plane's status. Thread-safe: reads Counters only.
#pragma once

#include <cstdint>
#include <string>

#include "proto/ingot/control/v1/control.pb.h"
#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"

namespace ingot::inline services_status {

namespace control_v1 = ::ingot::control::v1;

// Several pages may claim one role: a replica that was stopped has not heard that it lost it.
enum class ShownRoles {
  kHeld,     // only the claim of the newest configuration is shown
  kClaimed,  // each is
};

// The status at `now_unix_ms`, up to which uptime is counted. While no supervisor runs, states of processes are asked
// of the kernel.
control_v1::GetStatusResponse read_status(const DaemonConfig& config, const InstanceView& view,
                                          std::int64_t now_unix_ms, ShownRoles roles = ShownRoles::kHeld);

// The state of one process as the supervisor has noted it. A process is up only once the page of its current
// incarnation says that it is ready; the page of an earlier incarnation does not count.
control_v1::State state_of(const ProcessEntry& entry, std::uint64_t ready_incarnation);

// Whether a replica runs, and whether it leads.
inline bool is_up(const control_v1::Replica& replica) { return replica.state() == control_v1::STATE_UP; }
inline bool leads(const control_v1::Replica& replica) {
  return is_up(replica) && replica.role() == control_v1::ROLE_LEADER;
}

// Equal for two statuses that differ only in progress: slots, lag, digests, uptime and the durations of a block and of
// the supervisor's absence.
std::string fingerprint(const control_v1::GetStatusResponse& status);

// Wall-clock time since the Unix epoch.
std::int64_t unix_now_ms();

}  // namespace ingot::services_status
