// What the pages say of a group that decides nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "replication/agreement/status.h"
#include "replication/pages/pages.h"

namespace ingot::inline replication_pages {

// Whether and why no slot can be decided, as the page's replica sees it; other fields are not filled in. `now_ns`: of
// the clock of the replicas' loops.
AgreementStatus blocked_status(const ReplicaPage& page, std::uint64_t now_ns);

// Whether a replica below `replicas` runs or is being started, as the supervisor has noted it.
bool any_replica_runs(const DaemonPage& daemon, std::size_t replicas);

// A group of which no replica runs is blocked, and no replica can say so: the cause, and a clause with what ends it.
inline constexpr std::string_view kNoReplicaRuns = "no replica runs";
std::string no_replica_runs();

// The sentence of a replica whose page shows that it is blocked, the leader's before others'; empty if there is none.
// Pages of dead and stopped replicas are skipped as out of date; if no replica runs, the sentence is that. `pages`: by
// replica; `daemon` may be null: then all count as running.
std::string who_is_blocked(const std::vector<const ReplicaPage*>& pages, const DaemonPage* daemon, EndpointId leader,
                           std::uint64_t now_ns);

}  // namespace ingot::replication_pages
