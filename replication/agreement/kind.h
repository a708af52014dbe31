// The agreements by name: the values of --agreement.
#pragma once

#include <array>
#include <cstdint>

namespace ingot {

enum class AgreementKind : std::uint8_t { kOnePaxos, kMultiPaxos, kTwoPhaseCommit };

constexpr std::array<const char*, 3> enum_names(AgreementKind) { return {"1paxos", "multipaxos", "2pc"}; }

}  // namespace ingot
