#include "replication/agreement/registry.h"

#include "replication/agreement/multi_paxos/multi_paxos.h"
#include "replication/agreement/one_paxos/one_paxos.h"
#include "replication/agreement/two_phase_commit/two_phase_commit.h"

namespace ingot {

std::unique_ptr<Agreement> make_agreement(std::string_view kind, const GroupConfig& group) {
  if (kind == "1paxos") return std::make_unique<OnePaxos>(group);
  if (kind == "multipaxos") return std::make_unique<MultiPaxos>(group);
  if (kind == "2pc") return std::make_unique<TwoPhaseCommit>(group);
  return nullptr;
}

}  // namespace ingot
