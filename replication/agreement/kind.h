// The agreements by name, one row each: the values of --agreement.
#pragma once

#include <array>
#include <cstdint>

// X(enumerator, name, class, traits...): the traits that differ from the default of AgreementTraits
// (replication/agreement/agreement.h). Names are listed to users in this order. A new agreement is a row here and the
// include of its class in registry.cc.
#define INGOT_AGREEMENTS(X)                                                             \
  X(kOnePaxos, "1paxos", OnePaxos, .votes_are_history = true, .has_acceptor = true)     \
  X(kMultiPaxos, "multipaxos", MultiPaxos)                                              \
  X(kTwoPhaseCommit, "2pc", TwoPhaseCommit)

namespace ingot::inline replication_agreement {

enum class AgreementKind : std::uint8_t {
#define INGOT_X(id, name, type, ...) id,
  INGOT_AGREEMENTS(INGOT_X)
#undef INGOT_X
};

inline constexpr std::array kAgreementNames{
#define INGOT_X(id, name, type, ...) name,
    INGOT_AGREEMENTS(INGOT_X)
#undef INGOT_X
};

constexpr const auto& enum_names(AgreementKind) { return kAgreementNames; }

}  // namespace ingot::replication_agreement
