// A replica's status, read back from its page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replication/agreement/status.h"
#include "replication/pages/pages.h"

namespace ingot {

// Whether and why no slot can be decided, as the page's replica sees it; other fields are not filled in. `now_ns`: of
// the clock of the replicas' loops.
AgreementStatus blocked_status(const ReplicaPage& page, std::uint64_t now_ns);

// The sentence of a replica whose page shows that it is blocked, the leader's before others'; empty if there is none.
// Pages of dead and stopped replicas are skipped as out of date. `pages`: by replica; `daemon` may be null: then all
// count as running.
std::string who_is_blocked(const std::vector<const ReplicaPage*>& pages, const DaemonPage* daemon, EndpointId leader,
                           std::uint64_t now_ns);

}  // namespace ingot
