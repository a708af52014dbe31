#include "replication/agreement/registry.h"

#include <array>

#include "replication/agreement/multi_paxos/multi_paxos.h"
#include "replication/agreement/one_paxos/one_paxos.h"
#include "replication/agreement/two_phase_commit/two_phase_commit.h"

namespace ingot {
namespace {

template <typename Protocol>
std::unique_ptr<Agreement> make(const GroupConfig& group) {
  return std::make_unique<Protocol>(group);
}

constexpr std::array kAgreements{
    AgreementEntry{"1paxos", {.votes_are_history = true}, make<OnePaxos>},
    AgreementEntry{"multipaxos", {}, make<MultiPaxos>},
    AgreementEntry{"2pc", {}, make<TwoPhaseCommit>},
};

}  // namespace

std::span<const AgreementEntry> agreements() { return kAgreements; }

const AgreementEntry* find_agreement(std::string_view name) {
  for (const AgreementEntry& entry : kAgreements) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

AgreementTraits traits_of(std::string_view name) {
  const AgreementEntry* entry = find_agreement(name);
  return entry == nullptr ? AgreementTraits{} : entry->traits;
}

std::unique_ptr<Agreement> make_agreement(std::string_view name, const GroupConfig& group) {
  const AgreementEntry* entry = find_agreement(name);
  return entry == nullptr ? nullptr : entry->make(group);
}

}  // namespace ingot
