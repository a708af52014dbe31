#include "replication/agreement_factory.h"

#include "replication/multi_paxos.h"
#include "replication/one_paxos.h"
#include "replication/two_phase_commit.h"

namespace ingot {

std::unique_ptr<Agreement> make_agreement(std::string_view kind, const GroupConfig& group) {
  if (kind == "1paxos") return std::make_unique<OnePaxos>(group);
  if (kind == "multipaxos") return std::make_unique<MultiPaxos>(group);
  if (kind == "2pc") return std::make_unique<TwoPhaseCommit>(group);
  return nullptr;
}

}  // namespace ingot
