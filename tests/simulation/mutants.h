// Known bugs, switched on one by one, to see that the checkers notice. No protocol knows of them: each corrupts what goes
// into a real agreement or comes out of it, or what the simulated replica or supervisor around it does.
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
  // In what an agreement hears and says.
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

// What is known of a mutant: where it matters, and how soon it is caught there.
struct MutantFacts {
  Mutant mutant;
  const char* name;
  const char* meaning;
  const char* agreement;
  int replicas;
  std::uint64_t seeds;  // it is caught within so many, from seed 1
};

std::span<const MutantFacts> all_mutants();
const char* name_of(Mutant mutant);
std::optional<Mutant> mutant_named(std::string_view name);

// `agreement` with the bug, or as it is if the bug is not in what it hears and says.
std::unique_ptr<Agreement> mutate(Mutant mutant, std::unique_ptr<Agreement> agreement, const GroupConfig& group);

}  // namespace ingot::simulation
