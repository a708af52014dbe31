// Ballots of Multi-Paxos: each belongs to one voter, so that no two candidates ever use the same.
#pragma once

#include <cstdint>
#include <optional>

#include "core/types.h"
#include "replication/agreement/limits.h"

namespace ingot::inline replication_agreement_multi_paxos {

// Ballots 1, 1 + voters, 1 + 2 voters, ... are voter 0's, and so on. Ballot 1 leads from the start.
// REQUIRES: ballot > 0.
inline EndpointId ballot_owner(Ballot ballot, int voters) {
  return EndpointId(static_cast<std::uint16_t>((ballot.value() - 1) % static_cast<std::uint64_t>(voters)));
}

// The lowest ballot of `self` above `above`; nothing if there is none left.
inline std::optional<Ballot> next_ballot(Ballot above, EndpointId self, int voters) {
  const auto step = static_cast<std::uint64_t>(voters);
  std::uint64_t ballot = above.value() / step * step + self.value() + 1;
  if (ballot <= above.value()) ballot += step;
  if (ballot > kConfigurationEntriesMax) return std::nullopt;
  return Ballot(ballot);
}

}  // namespace ingot::replication_agreement_multi_paxos
