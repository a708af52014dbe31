// A replica's status put together again from its page, for those who read it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replication/agreement/status.h"
#include "replication/pages/pages.h"

namespace ingot {

// Whether and why nothing can be decided, as the page's replica sees it; all else is left out. `now_ns`: of the clock that
// replicas' loops run by.
AgreementStatus blocked_status(const ReplicaPage& page, std::uint64_t now_ns);

// The sentence of a replica that says it is blocked, the leader's before others'; empty: none does. Who is dead or stopped
// is not asked: what its page says is of before. `pages`: by replica; `daemon` may be null: then all run.
std::string who_is_blocked(const std::vector<const ReplicaPage*>& pages, const DaemonPage* daemon, EndpointId leader,
                           std::uint64_t now_ns);

}  // namespace ingot
