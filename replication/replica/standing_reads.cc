#include "replication/replica/standing_reads.h"

#include <optional>
#include <string>
#include <utility>

#include "replication/replica/limits.h"

namespace ingot::inline replication_replica {

void StandingReads::park(EndpointId client, std::uint64_t sequence, std::unique_ptr<StandingQuery> query,
                         std::uint64_t now_ns) {
  Parked& place = parked_[client];
  if (place.query != nullptr && sequence < place.sequence) return;
  place = {sequence, now_ns, std::move(query)};
}

bool StandingReads::answer_next(std::uint64_t now_ns, Send send) {
  constexpr std::uint64_t kOverdueNs = std::uint64_t{kStandingOverdueMs} * 1'000'000;
  for (auto it = parked_.begin(); it != parked_.end(); ++it) {
    const std::optional<std::string> answer = it->second.query->look(now_ns >= it->second.since_ns + kOverdueNs);
    if (!answer || !send(it->first, it->second.sequence, *answer)) continue;
    parked_.erase(it);
    return true;
  }
  return false;
}

}  // namespace ingot::replication_replica
