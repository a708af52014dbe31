// Known bugs, switched on one at a time, to show that the checkers find them. The protocols hold no code for them: a
// mutant corrupts the inputs or outputs of a real agreement, or the simulated replica or supervisor around it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "replication/agreement/agreement.h"

namespace ingot::simulation {

enum class Mutant : std::uint8_t {
  kNone,
  // In the inputs and outputs of an agreement.
  kForgottenPromise,
  kForgottenVote,
  kForgottenProposal,
  kForgottenConfiguration,
  kLearnTwice,
  kVoteCountedTwice,
  kNoTakenForYes,
  kNameUsedTwice,
  kReadWithoutAsking,
  kSnapshotOffByOne,
  kGapFilledWithNoOp,
  kMissingTakenForEmpty,
  kReusedEpoch,
  kDroppedInFlight,
  // In the replica or the supervisor.
  kMessagesBeforeStores,
  kForgottenHistory,
  kForgottenSessions,
  kSalvageOfTheLiving,
  kSuccessorWithoutVotes,
};

// Facts about a mutant: the group in which it does harm, and how soon a checker finds it there.
struct MutantFacts {
  Mutant mutant;
  const char* name;
  const char* meaning;
  const char* agreement;
  int replicas;
  std::uint64_t seeds;  // it is caught within this many seeds, from seed 1
};

std::span<const MutantFacts> all_mutants();
const char* name_of(Mutant mutant);
std::optional<Mutant> mutant_named(std::string_view name);

// `agreement` with the bug, or unchanged if the bug is not in its inputs and outputs.
std::unique_ptr<Agreement> mutate(Mutant mutant, std::unique_ptr<Agreement> agreement, const GroupConfig& group);

}  // namespace ingot::simulation
